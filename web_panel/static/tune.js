// Tuning: sliders move a draft, and every movement ranks the question anew beside what is in force.
import {Refused, attempt, get, make, on, post, toast} from '/static/panel.js';

const $ = id => document.getElementById(id);
const words = $('tune-words').dataset;
const {numbers, signals} = {numbers: JSON.parse($('tune-data').dataset.numbers), signals: JSON.parse($('tune-data').dataset.signals)};
let state = JSON.parse($('tune-data').dataset.state);
let draft = {preset: state.preset, values: {...state.values}};
const rows = new Map([...document.querySelectorAll('.weight')].map(row => [row.dataset.key, row]));
const say = (sentence, params = {}) => sentence.replace(/\{(\w+)\}/g, (all, name) => params[name] ?? all);
const fixed = (value, digits = 3) => Number(value).toFixed(digits);
const trimmed = value => String(Math.round(value * 1e4) / 1e4);

// ---- the draft

const inForce = () => ({preset: state.preset, values: state.values});
const ofPreset = key => numbers[draft.preset][key] ?? 0;
const isOwn = key => key in draft.values;
const changedKeys = () => [...rows.keys()].filter(key => draft.values[key] !== state.values[key]);
const isDirty = () => draft.preset !== state.preset || changedKeys().length > 0;

function showRow(key, row) {
  const value = isOwn(key) ? draft.values[key] : ofPreset(key);
  const slider = row.querySelector('[data-slider]'), number = row.querySelector('[data-number]');
  slider.max = Math.max(1, value);
  slider.value = value;
  if (document.activeElement !== number) number.value = trimmed(value);
  const locked = state.locked[key];
  slider.disabled = number.disabled = Boolean(locked);
  row.querySelector('[data-reset]').hidden = !isOwn(key) || Boolean(locked);
  row.classList.toggle('own', isOwn(key));
  row.classList.toggle('dirty', draft.values[key] !== state.values[key]);
  row.querySelector('[data-from]').textContent = locked ? say(words.locked, {name: locked})
    : isOwn(key) ? say(words.own, {value: trimmed(ofPreset(key))}) : words.unset;
}
function showDraft({sort = false} = {}) {
  for (const [key, row] of rows) {
    if (sort) $(ofPreset(key) || isOwn(key) || key in state.values ? 'main-weights' : 'other-weights').append(row);
    showRow(key, row);
  }
  $('preset').value = draft.preset;
  $('preset').disabled = Boolean(state.locked['recall.preset']);
  const count = changedKeys().length + (draft.preset !== state.preset);
  $('draft-state').textContent = count ? say(words.dirty, {count}) : words.clean;
  $('save').disabled = $('discard').disabled = !count;
  $('undo').disabled = !state.undo;
  $('problem').hidden = !state.problem;
  $('problem').textContent = state.problem;
}
function move(key, value) {
  if (value === null) delete draft.values[key];
  else draft.values[key] = value;
  showDraft();
  refresh();
}
for (const [key, row] of rows) {
  row.querySelector('[data-slider]').addEventListener('input', event => move(key, Number(event.target.value)));
  const number = row.querySelector('[data-number]');
  number.addEventListener('input', () => { if (number.value !== '' && number.validity.valid || number.validity.stepMismatch) move(key, Number(number.value)); });
  number.addEventListener('change', () => showRow(key, row));
  row.querySelector('[data-reset]').addEventListener('click', () => { move(key, null); row.querySelector('[data-slider]').focus(); });
}
$('preset').addEventListener('change', event => { draft.preset = event.target.value; showDraft({sort: true}); refresh(); });
$('discard').addEventListener('click', () => { draft = {preset: state.preset, values: {...state.values}}; showDraft({sort: true}); refresh(); });
window.addEventListener('beforeunload', event => { if (isDirty()) event.preventDefault(); });

/** Take over what is in force; a draft that was touched stays as it is. */
async function reload({keep = false} = {}) {
  const mine = keep && isDirty();
  state = await get('/tune/state');
  if (!mine) draft = {preset: state.preset, values: {...state.values}};
  showDraft({sort: true});
  refresh();
}
async function change(url, body, said, undo = null) {
  try {
    await post(url, {...body, seen: state.seen});
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.status === 409) await reload({keep: true});
    const fields = Object.values(error.answer.fields || {});
    toast([error.message, ...fields].join(' '), {kind: 'failure'});
    return;
  }
  toast(said, undo ? {undo} : {});
  await reload();
}
const undoLast = () => attempt(() => change('/settings/undo', {}, words.undone));
$('undo').addEventListener('click', undoLast);
$('save').addEventListener('click', () => {
  const values = Object.fromEntries(changedKeys().map(key => [key, isOwn(key) ? draft.values[key] : '']));
  if (draft.preset !== state.preset) values['recall.preset'] = draft.preset;
  attempt(() => change('/settings/save', {values}, words.saved, {label: words.undo, act: undoLast})).then(() => showDraft());
});

// ---- the comparison

const query = () => $('query').value.trim();
const workspace = () => $('workspace').value;
const leftSet = () => $('left').value ? {preset: $('left').value, values: {}} : inForce();
const opened = new Set();
let busy = false, again = false;

/** Ask for the ranking; while one is on its way the last movement waits. */
async function refresh() {
  if (!query()) return;
  if (busy) { again = true; return; }
  busy = true;
  const started = performance.now();
  try {
    const found = await post('/tune/preview', {query: query(), workspace: workspace(), shown: 10, sets: [leftSet(), draft]});
    warn(found.degraded.join(' '));
    show(found);
    $('ranked').textContent = say(found.fetched ? words.fetched : words.ranked, {ms: found.ms, whole: Math.round(performance.now() - started), pool: found.pool});
  } catch (error) {
    if (error instanceof Refused) warn(error.message);
    else await attempt(() => { throw error; });
  } finally {
    busy = false;
    if (again) { again = false; refresh(); }
  }
}
function warn(text) {
  $('degraded').textContent = text;
  $('degraded').hidden = !text;
}
function show(found) {
  const [left, right] = found.sides;
  const largest = Math.max(1e-9, ...found.sides.flatMap(side => side.hits.map(hit => total(hit))));
  const focus = document.activeElement?.dataset.focus;
  const stays = new Set(right.hits.map(hit => hit.id));
  $('sides').hidden = false;
  $('hint').hidden = true;
  fill($('left-hits'), left, found, largest, hit => stays.has(hit.id) ? null : make('span', {class: 'badge warn'}, words.below));
  fill($('right-hits'), right, found, largest, moved);
  const gone = left.hits.filter(hit => !stays.has(hit.id));
  $('gone').hidden = !gone.length;
  $('gone-hits').replaceChildren(...gone.map(hit => make('li', {class: 'row'}, make('span', {class: 'badge'}, say(words.placeBefore, {place: hit.place})), make('span', {class: 'user gone-text'}, hit.excerpt.slice(0, 90)))));
  legend(found);
  for (const [place, side] of [['left-hits', left], ['right-hits', right]]) {
    const badge = $(place).parentElement.querySelector('[data-measure]');
    badge.hidden = side.ndcg === null;
    if (side.ndcg !== null) badge.textContent = say(words.measure, {ndcg: fixed(side.ndcg), recall: fixed(side.recall)});
    badge.dataset.ndcg = side.ndcg ?? '';
  }
  if (focus) document.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus();
}
function fill(list, side, found, largest, marker) {
  list.replaceChildren(...side.hits.map(hit => shownHit(hit, list.id, found, largest, marker)));
  if (!side.hits.length) list.append(make('li', {class: 'dim'}, words.nothingFound));
}
function moved(hit) {
  if (hit.before === null) return make('span', {class: 'move new'}, words.new);
  const by = hit.before - hit.place;
  if (!by) return make('span', {class: 'move'}, '=', make('span', {class: 'hidden'}, words.same));
  const [kind, sign, said] = by > 0 ? ['up', '▲', words.up] : ['down', '▼', words.down];
  return make('span', {class: `move ${kind}`}, make('span', {'aria-hidden': 'true'}, `${sign}${Math.abs(by)}`), make('span', {class: 'hidden'}, say(said, {count: Math.abs(by)})));
}
function shownHit(hit, list, found, largest, marker) {
  const why = make('details', {class: 'why'}, make('summary', {'data-focus': `${list}-why-${hit.id}`}, words.why), parts(hit));
  const name = `${list}-${hit.id}`;
  why.open = opened.has(name);
  why.addEventListener('toggle', () => opened[why.open ? 'add' : 'delete'](name));
  const isBelow = hit.place === found.returned + 1;
  return make('li', {class: `hit${hit.place > found.returned ? ' below' : ''}${hit.judged === null ? '' : hit.judged ? ' relevant' : ' irrelevant'}`, 'data-id': hit.id, value: hit.place},
    isBelow ? make('p', {class: 'small dim cutline'}, say(words.open, {count: found.returned})) : null,
    make('div', {class: 'row spread'},
      make('span', {class: 'row small'}, marker(hit), make('a', {href: `/memories?id=${hit.id}`, class: 'dim'}, `${hit.kind} · ${hit.at}`)),
      make('span', {class: `small${hit.weak ? ' weak' : ' dim'}`}, say(hit.weak ? words.weak : words.strength, {value: fixed(hit.strength, 2)}))),
    make('p', {class: 'user excerpt'}, hit.excerpt),
    bar(hit, largest),
    make('div', {class: 'row spread'}, why, make('span', {class: 'row judge', role: 'group'},
      judgeButton(hit, list, true), judgeButton(hit, list, false))));
}
function judgeButton(hit, list, relevant) {
  const pressed = hit.judged === relevant;
  const about = `${relevant ? words.relevant : words.irrelevant}: ${hit.excerpt.slice(0, 40)}`;
  return make('button', {type: 'button', class: `small judge-${relevant ? 'yes' : 'no'}`, 'aria-pressed': String(pressed), 'aria-label': about, title: relevant ? words.relevant : words.irrelevant, 'data-focus': `${list}-judge-${relevant}-${hit.id}`,
    onclick: () => attempt(() => judge(hit, relevant, pressed))}, relevant ? '✓' : '✗');
}
async function judge(hit, relevant, pressed) {
  const about = {query: query(), workspace: workspace()};
  if (pressed) await post('/judgments/remove', {...about, refs: [hit.id]});
  else await post('/judgments/judge', {...about, [relevant ? 'relevant' : 'irrelevant']: [hit.id]});
  refresh();
  await loadJudgments();
}
const total = hit => hit.parts.reduce((sum, part) => sum + Math.max(0, part.contribution), 0);
// Signals that presets use together have colours of their own.
const TONES = {relevance: 0, importance: 1, recency: 2, context: 3, time_match: 4, speaker: 5, graph: 6, salience: 7, frequency: 8, similarity: 9, lexical: 10, cosine: 11, polarity: 5, confidence: 4, temporal: 3, proximity: 11, boost: 8};
const tone = signal => `tone-${TONES[signal] ?? 8}`;
const SVG = 'http://www.w3.org/2000/svg';
function bar(hit, largest) {
  const svg = document.createElementNS(SVG, 'svg');
  const said = hit.parts.map(part => `${signals[part.signal]} ${fixed(part.contribution)}`).join(', ');
  for (const [name, value] of Object.entries({class: 'contributions', viewBox: '0 0 1000 10', preserveAspectRatio: 'none', role: 'img', 'aria-label': `${say(words.score, {value: fixed(hit.score)})}: ${said}`})) svg.setAttribute(name, value);
  let x = 0;
  for (const part of hit.parts.filter(part => part.contribution > 0)) {
    const rect = document.createElementNS(SVG, 'rect'), width = 1000 * part.contribution / largest;
    for (const [name, value] of Object.entries({class: tone(part.signal), x, y: 0, width: Math.max(0, width - 2), height: 10})) rect.setAttribute(name, value);
    x += width;
    svg.append(rect);
  }
  return svg;
}
function parts(hit) {
  const largest = Math.max(1e-9, ...hit.parts.map(part => Math.abs(part.contribution)));
  const lines = hit.parts.map(part => make('tr', {},
    make('th', {scope: 'row'}, signals[part.signal] ?? part.signal),
    make('td', {class: 'number small dim'}, `${fixed(part.weight, 2)} × ${fixed(part.value)}`),
    make('td', {class: 'number'}, fixed(part.contribution)),
    make('td', {class: 'grow'}, meter(part, largest))));
  const channels = Object.entries(hit.channels).map(([name, place]) => `${words[`channel${camel(name)}`] ?? name} ${place}`).join(' · ');
  return make('div', {}, make('table', {class: 'small parts'}, make('tbody', {}, ...lines,
    make('tr', {}, make('th', {scope: 'row'}, say(words.score, {value: ''})), make('td'), make('td', {class: 'number'}, fixed(hit.score)), make('td')))),
    channels ? make('p', {class: 'small dim'}, say(words.channels, {channels})) : null);
}
const camel = name => name.split('_').map(part => part[0].toUpperCase() + part.slice(1)).join('');
function meter(part, largest) {
  const svg = document.createElementNS(SVG, 'svg'), rect = document.createElementNS(SVG, 'rect');
  for (const [name, value] of Object.entries({class: 'meter', viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true'})) svg.setAttribute(name, value);
  for (const [name, value] of Object.entries({class: tone(part.signal), width: 100 * Math.abs(part.contribution) / largest, height: 8})) rect.setAttribute(name, value);
  svg.append(rect);
  return svg;
}
function legend(found) {
  const used = new Set(found.sides.flatMap(side => side.hits.flatMap(hit => hit.parts.map(part => part.signal))));
  $('legend').hidden = !used.size;
  $('legend').replaceChildren(...Object.keys(TONES).filter(name => used.has(name)).map(name => make('span', {class: `key ${tone(name)}`}, signals[name])));
}
$('ask').addEventListener('submit', event => { event.preventDefault(); refresh(); });
$('query').addEventListener('change', refresh);
$('workspace').addEventListener('change', refresh);
$('left').addEventListener('change', refresh);

// ---- judgments

async function loadJudgments() {
  const {queries} = await get('/judgments');
  $('queries').hidden = !queries.length;
  $('no-queries').hidden = Boolean(queries.length);
  $('judged').replaceChildren(...queries.map(one => make('option', {value: one.query})));
  $('queries').tBodies[0].replaceChildren(...queries.map(judgedRow));
  for (const id of ['evaluate', 'evaluate-presets', 'propose']) $(id).disabled = !queries.length;
}
function judgedRow(one) {
  const count = relevant => one.judged.filter(said => said.relevant === relevant).length;
  return make('tr', {},
    make('td', {}, make('button', {type: 'button', class: 'quiet user pick', onclick: () => pick(one)}, one.query)),
    make('td', {}, one.workspace), make('td', {class: 'number'}, String(count(true))), make('td', {class: 'number'}, String(count(false))),
    make('td', {}, make('button', {type: 'button', class: 'small', 'aria-label': `${words.remove}: ${one.query}`, onclick: event => attempt(() => removeQuery(one), event.currentTarget)}, words.remove)));
}
function pick(one) {
  $('query').value = one.query;
  $('workspace').value = one.workspace;
  refresh();
  $('ask').scrollIntoView({block: 'start'});
  $('query').focus();
}
async function removeQuery(one) {
  const about = {query: one.query, workspace: one.workspace};
  await post('/judgments/remove', about);
  const act = () => attempt(async () => {
    for (const said of one.judged) {
      await post('/judgments/judge', {...about, [said.relevant ? 'relevant' : 'irrelevant']: [said.uid], ...(said.grade ? {grade: said.grade} : {})});
    }
    await loadJudgments();
    refresh();
  });
  toast(words.removed, {undo: {label: words.undo, act}});
  await loadJudgments();
  refresh();
}

// ---- evaluation and proposal

let compared = [];
function start(url, body, names) {
  compared = names;
  attempt(() => post(url, body));
}
$('evaluate').addEventListener('click', () => start('/tune/evaluate', {sets: [inForce(), draft]}, [words.inForce, words.draft]));
$('evaluate-presets').addEventListener('click', () => {
  const presets = Object.keys(numbers);
  start('/tune/evaluate', {sets: [inForce(), ...presets.map(preset => ({preset, values: {}}))]}, [words.inForce, ...presets]);
});
$('propose').addEventListener('click', () => start('/tune/propose', {}, []));
$('stop').addEventListener('click', () => attempt(() => post('/jobs/stop')));
on('work', work => {
  const isRunning = work.state === 'runs';
  $('progress').hidden = $('stop').hidden = !isRunning;
  for (const id of ['evaluate', 'evaluate-presets', 'propose']) $(id).disabled = isRunning;
  if (isRunning) {
    if (work.of) { $('progress').max = work.of; $('progress').value = work.done; }
    return;
  }
  if (work.name !== 'evaluate' && work.name !== 'propose') return;
  $('work-said').hidden = work.state === 'done';
  $('work-said').className = work.state === 'failed' ? 'note failure' : 'note';
  $('work-said').textContent = work.error || '';
  if (work.state === 'done') (work.name === 'evaluate' ? showEvaluation : showProposal)(work.result);
});
const percent = value => (100 * value).toFixed(1);
function table(heads, lines) {
  return make('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': words.evaluated},
    make('table', {}, make('thead', {}, make('tr', {}, ...heads.map((head, n) => make('th', {scope: 'col', class: n ? 'number' : ''}, head)))),
      make('tbody', {}, ...lines.map(line => make('tr', {}, ...line.map((cell, n) => make(n ? 'td' : 'th', n ? {class: 'number'} : {scope: 'row'}, cell)))))));
}
function showEvaluation(found) {
  const measures = Object.keys(found.means[0]);
  const names = found.means.map((_, n) => compared[n] ?? String(n + 1));
  const better = value => value > 1e-9 ? make('span', {class: 'good'}, ` +${percent(value)}`) : value < -1e-9 ? make('span', {class: 'bad'}, ` ${percent(value)}`) : null;
  const lines = found.means.map((means, n) => [names[n], ...measures.map(name => make('span', {'data-mean': name}, percent(means[name]), n ? better(means[name] - found.means[0][name]) : null))]);
  const queries = found.queries.map(one => [make('span', {class: 'user'}, one.query), ...one.values.map(values => percent(values['ndcg@10']))]);
  $('outcome').hidden = false;
  $('outcome').replaceChildren(
    make('p', {class: 'small dim'}, say(words.evaluated, {count: found.queries.length, ms: found.ms, without: found.without_gold})),
    table(['%', ...measures], lines),
    make('details', {}, make('summary', {}, 'nDCG@10'), table([words.proposal && '', ...names], queries)));
}
function showProposal(found) {
  const changed = Object.entries(found.changed);
  const label = key => rows.get(key)?.querySelector('label').textContent ?? key;
  const gain = ([before, after]) => `${percent(before)} → ${percent(after)}`;
  $('outcome').hidden = false;
  $('outcome').replaceChildren(make('h3', {}, words.proposed),
    make('p', {}, say(words.searched, {count: found.searched_count, gain: gain(found.searched), measure: found.measure})),
    make('p', {}, say(words.heldOut, {count: found.held_out_count, gain: gain(found.held_out)})));
  if (!changed.length) { $('outcome').append(make('p', {}, words.noBetter)); return; }
  $('outcome').append(
    table([words.setting, words.now, words.proposal], changed.map(([key, value]) => [label(key), trimmed(found.start[key] ?? 0), trimmed(value)])),
    make('p', {}, make('button', {type: 'button', class: 'main', onclick: () => take(found.changed)}, words.take)));
}
function take(values) {
  draft = {preset: state.preset, values: {...state.values, ...values}};
  showDraft({sort: true});
  refresh();
  toast(words.taken);
  $('weights-title').scrollIntoView({block: 'center'});
}

// ---- changes by others

on('settings', () => attempt(() => reload({keep: true})));
on('memories', () => { if (!isSliding()) refresh(); });
const isSliding = () => document.activeElement?.matches('[data-slider]:active') ?? false;

showDraft({sort: true});
attempt(loadJudgments);
