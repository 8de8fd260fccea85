// Long work: starting it, how far it is, what came of it.
import {attempt, make, on, post} from '/static/panel.js';

const work = document.getElementById('work'), words = work.dataset;
const progress = document.getElementById('progress'), told = document.getElementById('work-said');
const stop = document.getElementById('stop'), checks = document.getElementById('checks');
const starts = [...document.querySelectorAll('[data-start]')];

function runs(is) {
  progress.hidden = stop.hidden = !is;
  for (const button of starts) button.disabled = is;
  if (is) progress.removeAttribute('value');
}
for (const button of starts) {
  button.addEventListener('click', () => attempt(async () => {
    await post(button.dataset.start, JSON.parse(button.dataset.body || '{}'));
    told.textContent = button.textContent;
    work.scrollIntoView({block: 'nearest'});
  }));
}
stop.addEventListener('click', () => attempt(() => post('/jobs/stop')));
on('work', state => {
  if (state.state === 'runs') {
    runs(true);
    checks.hidden = true;
    if (state.of) { progress.max = state.of; progress.value = state.done; told.textContent = `${state.done} / ${state.of}`; }
    return;
  }
  runs(false);
  told.textContent = state.state === 'done' ? state.said || words.done : state.error || words.stopped;
  told.className = state.state === 'failed' ? 'note failure' : '';
  if (state.name === 'scan') document.getElementById('apply').hidden = !state.found;
  if (state.name === 'repair') document.getElementById('apply').hidden = true;
  if (state.checks) {
    checks.replaceChildren(...state.checks.map(one => make('li', {}, make('span', {class: `badge ${{ok: 'good', warning: 'warn', failure: 'bad'}[one.status]}`}, one.status === 'ok' ? '✓' : '!'), ' ', one.said)));
    checks.hidden = false;
  }
});
runs(Boolean(words.running));
