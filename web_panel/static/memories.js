// Memories: the list follows the search; the detail can be edited, deleted and brought back.
import {attempt, get, make, on, post, settled, toast} from '/static/panel.js';

const search = document.getElementById('search'), list = document.getElementById('list');
const place = document.getElementById('memories'), words = place.dataset;
const detail = document.getElementById('detail'), edit = document.getElementById('edit');
const more = document.getElementById('more'), fault = document.getElementById('edit-error');
let cursor = null, current = null, asking = null, typed = '';

const query = () => new URLSearchParams([...new FormData(search)].filter(([, value]) => value !== ''));
const fieldsNow = () => JSON.stringify([...new FormData(edit)]);

async function load(append = false) {
  asking?.abort();
  asking = new AbortController();
  const asked = query();
  if (append && cursor) asked.set('cursor', cursor);
  const answer = await get(`/memories/found?${asked}`, asking.signal);
  cursor = answer.next;
  more.hidden = !cursor;
  const rows = answer.memories.map(row);
  if (append) list.append(...rows); else list.replaceChildren(...rows);
  const without = answer.degraded?.length ? ' ' + words.without.replace('{channels}', answer.degraded.join(', ')) : '';
  document.getElementById('count').textContent = (answer.total ? words.count.replace('{count}', answer.total) : words.none) + without;
  mark();
}
function row(memory) {
  const badges = [memory.kind, memory.state, memory.pinned ? words.pinned : '', memory.weak ? words.weak : '', ...memory.tags.map(tag => `#${tag}`)];
  const button = make('button', {type: 'button', class: 'memory', 'data-id': memory.id, onclick: () => attempt(() => open(memory.id, true))},
    make('span', {class: 'excerpt', dir: 'auto'}, memory.excerpt),
    make('span', {class: 'dim small'}, `#${memory.id} · ${memory.at} · ${memory.workspace} `),
    ...badges.filter(Boolean).map(text => make('span', {class: 'badge', dir: 'auto'}, text)));
  return make('li', {}, button);
}
function mark() {
  for (const button of list.querySelectorAll('.memory')) {
    button.setAttribute('aria-current', String(Number(button.dataset.id) === current?.id));
  }
}
async function open(id, focus = false) {
  show(await get(`/memories/${id}`));
  history.replaceState(null, '', `/memories?id=${id}`);
  if (focus) { detail.focus({preventScroll: true}); detail.scrollIntoView({block: 'nearest'}); }
}
function show(memory) {
  current = memory;
  detail.hidden = false;
  const isNew = memory.id === undefined;
  document.getElementById('detail-title').textContent = isNew ? document.getElementById('new').textContent : `#${memory.id}${memory.state ? ' · ' + memory.state : ''}`;
  for (const name of ['text', 'kind', 'importance', 'tags', 'topics', 'participants', 'key_facts', 'summary']) edit.elements[name].value = memory[name] ?? '';
  edit.elements.pinned.checked = Boolean(memory.pinned);
  fault.hidden = true;
  document.getElementById('delete').hidden = isNew || memory.deleted;
  document.getElementById('restore').hidden = isNew || !memory.state;
  document.getElementById('undo-memory').hidden = isNew;
  const about = document.getElementById('about');
  about.replaceChildren();
  for (const [name, label] of Object.entries(about.dataset)) {
    if (memory[name] || memory[name] === 0) about.append(make('dt', {}, label), make('dd', {dir: 'auto'}, String(memory[name])));
  }
  document.getElementById('trail').replaceChildren(...(memory.history || []).map(entry =>
    make('li', {dir: 'auto'}, `${entry.at} · ${entry.actor} · ${entry.operation}${entry.fields ? ': ' + entry.fields : ''}`)));
  typed = fieldsNow();
  mark();
}
function sent() {
  const body = Object.fromEntries(new FormData(edit));
  body.pinned = edit.elements.pinned.checked;
  if (edit.elements.importance.value === '') delete body.importance; else body.importance = Number(edit.elements.importance.value);
  if (body.kind === '') delete body.kind;
  return body;
}
const undo = id => attempt(async () => {
  await post('/memories/undo', {id: String(id)});
  toast(words.undone);
  await load();
  await open(id);
});
edit.addEventListener('submit', event => {
  event.preventDefault();
  attempt(async () => {
    try {
      const isNew = current.id === undefined;
      show(isNew ? await post('/memories/add', sent()) : await post(`/memories/${current.id}/edit`, {...sent(), revision: current.revision}));
      toast(words.saved);
      await load();
    } catch (error) {
      if (error.answer) { fault.textContent = error.message; fault.hidden = false; return; }
      throw error;
    }
  }, event.submitter);
});
document.getElementById('delete').addEventListener('click', event => attempt(async () => {
  const {id} = current;
  show(await post(`/memories/${id}/delete`));
  toast(words.deleted, {undo: {label: words.undo, act: () => undo(id)}});
  await load();
}, event.currentTarget));
document.getElementById('restore').addEventListener('click', event => attempt(async () => {
  show(await post(`/memories/${current.id}/restore`));
  toast(words.restored);
  await load();
}, event.currentTarget));
document.getElementById('undo-memory').addEventListener('click', () => undo(current.id));
document.getElementById('new').addEventListener('click', () => {
  show({kind: 'semantic'});
  edit.elements.text.focus();
});
more.addEventListener('click', event => attempt(() => load(true), event.currentTarget));
search.addEventListener('submit', event => { event.preventDefault(); attempt(() => load()); });
search.addEventListener('input', settled(() => attempt(() => load()), 200));
on('memories', changed => attempt(async () => {
  await load();
  if (current?.id === undefined || !changed.ids.includes(current.id)) return;
  if (fieldsNow() === typed) await open(current.id);
  else { fault.textContent = words.changed; fault.hidden = false; }
}));
attempt(async () => {
  await load();
  if (words.opened) await open(words.opened);
});
