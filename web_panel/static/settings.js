// The settings form: what was touched, checking while typing, saving, undo, and history.
import {Refused, attempt, get, make, on, post, settled, toast} from '/static/panel.js';

const form = document.getElementById('settings');
const told = document.getElementById('settings-words').dataset;
const rows = new Map([...form.querySelectorAll('.setting')].map(row => [row.dataset.key, row]));
const saved = new Map();
let seen = form.dataset.seen;

const input = row => row.querySelector('[data-value]');
function valueOf(row) {
  const field = input(row);
  if (row.dataset.control === 'switch') return String(field.checked);
  if (row.dataset.control === 'secret' && row.querySelector('[data-clear]').checked) return '';
  return field.value.trim();
}
function isDirty(key, row) {
  // An empty field of a key means: leave it as it is.
  if (row.dataset.control === 'secret') return row.querySelector('[data-clear]').checked || valueOf(row) !== '';
  return valueOf(row) !== saved.get(key);
}
const dirty = () => [...rows].filter(([key, row]) => isDirty(key, row));
for (const [key, row] of rows) saved.set(key, row.dataset.control === 'secret' ? '' : valueOf(row));

function showValue(row, value) {
  const field = input(row), slider = row.querySelector('[data-slider]');
  if (row.dataset.control === 'switch') field.checked = value === 'true';
  else field.value = value;
  if (slider) slider.value = value === '' ? slider.min : value;
}
function showFault(key, fault) {
  const row = rows.get(key), line = row.querySelector('.error');
  line.textContent = fault;
  line.hidden = !fault;
  input(row).setAttribute('aria-invalid', fault ? 'true' : 'false');
}
function refresh() {
  const touched = dirty();
  for (const [key, row] of rows) row.classList.toggle('dirty', isDirty(key, row));
  const state = document.getElementById('save-state');
  state.textContent = touched.length ? state.dataset.dirty.replace('{count}', touched.length) : state.dataset.clean;
  for (const id of ['save', 'discard']) document.getElementById(id).disabled = !touched.length;
  document.getElementById('undo').disabled = form.dataset.undo !== 'true';
  document.getElementById('redo').disabled = form.dataset.redo !== 'true';
  for (const [key, row] of rows) {
    const button = row.querySelector('[data-reset]');
    if (button) button.hidden = valueOf(row) === row.dataset.default;
  }
}

const check = settled(async (key, row) => {
  if (!isDirty(key, row)) return showFault(key, '');
  await attempt(async () => showFault(key, (await post('/settings/check', {key, value: valueOf(row)})).error));
});
for (const [key, row] of rows) {
  row.addEventListener('input', event => {
    if (event.target.matches('[data-slider]')) input(row).value = event.target.value;
    else if (row.querySelector('[data-slider]') && event.target.value !== '') row.querySelector('[data-slider]').value = event.target.value;
    if (event.target.matches('[data-clear]')) { input(row).value = ''; input(row).disabled = event.target.checked; }
    refresh();
    check(key, row);
  });
  row.querySelector('[data-reset]')?.addEventListener('click', () => {
    showValue(row, row.dataset.default);
    showFault(key, '');
    refresh();
    input(row).focus();
  });
}

/** Take over what is in force; what a person is changing stays as typed. */
function takeOver(state) {
  seen = state.seen;
  form.dataset.undo = state.undo;
  form.dataset.redo = state.redo;
  for (const [key, now] of Object.entries(state.fields)) {
    const row = rows.get(key);
    const mine = isDirty(key, row);
    if (row.dataset.control === 'secret') {
      input(row).placeholder = now.reference || (now.has_value ? told.kept : told.empty);
      row.querySelector('[data-clear]').disabled = !now.has_value;
    } else {
      saved.set(key, now.value);
      if (!mine) showValue(row, now.value);
    }
    row.classList.toggle('differs', now.differs);
    row.querySelector('[data-differs]').hidden = !now.differs;
  }
  const problems = document.getElementById('problems');
  problems.replaceChildren(...state.problems.map(text => make('p', {class: 'note warning', dir: 'auto'}, text)));
  refresh();
}
async function reload() { takeOver(await get('/settings/state')); }

// One change after the other: each rests on the file that the one before it left.
let last = Promise.resolve();
function change(url, body, done) {
  const mine = last.catch(() => {}).then(() => changeNow(url, body, done));
  last = mine;
  return mine;
}
async function changeNow(url, body, done) {
  try {
    const now = await post(url, {...body, seen});
    seen = now.seen;
    form.dataset.undo = now.undo;
    form.dataset.redo = now.redo;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    for (const [key, fault] of Object.entries(error.answer.fields || {})) showFault(key, fault);
    if (error.status === 409) {
      await reload();
      toast(`${error.message} ${told.mine}`, {kind: 'failure'});
      return;
    }
    const first = form.querySelector('[aria-invalid="true"]');
    first?.closest('details')?.setAttribute('open', '');
    first?.focus();
    throw error;
  }
  done?.();
  refresh();
  await reload();
}
function settle() {
  for (const [key, row] of rows) {
    showFault(key, '');
    if (row.dataset.control === 'secret') {
      input(row).value = '';
      input(row).disabled = false;
      row.querySelector('[data-clear]').checked = false;
    }
  }
}
const undo = () => attempt(() => change('/settings/undo', {}, () => toast(told.undone)), document.getElementById('undo'));

form.addEventListener('submit', event => {
  event.preventDefault();
  const touched = dirty();
  if (!touched.length) return;
  const values = Object.fromEntries(touched.map(([key, row]) => [key, valueOf(row)]));
  attempt(() => change('/settings/save', {values}, () => {
    settle();
    for (const key of Object.keys(values)) if (rows.get(key).dataset.control !== 'secret') saved.set(key, values[key]);
    toast(told.saved, {undo: {label: told.undo, act: undo}});
  }), document.getElementById('save')).then(refresh);
});
document.getElementById('undo').addEventListener('click', () => undo().then(refresh));
document.getElementById('redo').addEventListener('click', event =>
  attempt(() => change('/settings/redo', {}, () => toast(told.redone)), event.currentTarget).then(refresh));
document.getElementById('discard').addEventListener('click', () => {
  for (const [key, row] of rows) if (row.dataset.control !== 'secret') showValue(row, saved.get(key));
  settle();
  refresh();
});
window.addEventListener('beforeunload', event => { if (dirty().length) event.preventDefault(); });

// ---- finding

function filter() {
  const wanted = document.getElementById('find').value.trim().toLowerCase();
  const only = document.getElementById('only-differing').checked;
  let found = 0;
  for (const row of rows.values()) {
    const text = row.querySelector('.about').textContent.toLowerCase();
    const shown = text.includes(wanted) && (!only || row.classList.contains('differs'));
    row.hidden = !shown;
    found += shown;
  }
  const narrowed = wanted !== '' || only;
  for (const group of form.querySelectorAll('.group')) {
    const shown = [...group.querySelectorAll('.setting')].some(row => !row.hidden);
    group.hidden = !shown;
    if (narrowed && shown) group.open = true;
    const link = form.querySelector(`.side a[href="#${CSS.escape(group.id)}"]`) || form.querySelector(`.side a[href="#${group.id}"]`);
    link.parentElement.hidden = !shown;
  }
  document.getElementById('found').textContent = narrowed ? told.found.replace('{count}', found) : '';
}
document.getElementById('find').addEventListener('input', settled(filter, 100));
document.getElementById('only-differing').addEventListener('change', filter);
function openTarget() {
  const group = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (group?.matches('.group')) { group.open = true; group.scrollIntoView(); }
}
window.addEventListener('hashchange', openTarget);
openTarget();

// ---- history

const history = document.getElementById('history');
history.querySelector('[data-close]').addEventListener('click', () => history.close());
document.getElementById('open-history').addEventListener('click', event => attempt(async () => {
  const {versions} = await get('/settings/history');
  showHistory(versions);
  history.showModal();
}, event.currentTarget));
function showHistory(versions) {
  const list = document.getElementById('versions'), words = list.dataset;
  list.replaceChildren(...versions.map((version, place) => {
    const lines = version.lines.map(line => make('span', {class: line[0] === '+' ? 'plus' : line[0] === '-' ? 'minus' : 'at'}, line));
    const restore = place === 0 ? make('span', {class: 'badge accent'}, words.now)
      : make('button', {type: 'button', 'aria-label': `${words.restore}: ${version.at}`, onclick: event => attempt(() => change('/settings/restore', {version: version.id}, () => {
        history.close();
        toast(told.saved, {undo: {label: told.undo, act: undo}});
      }), event.currentTarget)}, words.restore);
    return make('li', {}, make('div', {class: 'row spread'},
      make('span', {}, `${version.at} · ${words[version.operation]} · ${version.actor}`), restore),
    lines.length ? make('pre', {class: 'diff'}, ...lines) : make('p', {class: 'dim small'}, words.same));
  }));
  if (!versions.length) list.append(make('li', {class: 'dim'}, words.none));
}

on('settings', () => {
  // In line with changes from here, so that an older answer never comes after a newer one.
  last = last.catch(() => {}).then(() => attempt(async () => {
    const before = seen;
    await reload();
    if (seen !== before) toast(told.changed);
  }));
});
refresh();
