// What every page of the panel shares: talking to the server, notices, events, language and look.

const token = document.querySelector('meta[name="jiyi-token"]').content;
export const said = document.getElementById('panel-words').dataset;

export class Refused extends Error {
  constructor(status, answer) {
    super(answer.error || said.failed);
    this.status = status;
    this.answer = answer;
  }
}

/** Ask for JSON. Throws Refused with the server's sentence. */
export async function get(url, signal) {
  return answered(await fetch(url, {headers: {accept: 'application/json'}, signal}));
}

/** Send a change. Throws Refused with the server's sentence. */
export async function post(url, body = {}, signal) {
  return answered(await fetch(url, {
    method: 'POST',
    headers: {'content-type': 'application/json', 'x-jiyi-token': token, accept: 'application/json'},
    body: JSON.stringify(body),
    signal,
  }));
}

async function answered(response) {
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(response.status, answer);
  return answer;
}

/** Make an element; text is never read as HTML. */
export function make(tag, attributes = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === 'class') element.className = value;
    else if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...content.filter(part => part !== null && part !== undefined));
  return element;
}

/** Tell something in the corner; `undo` is {label, act}. */
export function toast(text, {kind = 'ok', undo = null} = {}) {
  const box = make('div', {class: `toast ${kind}`}, make('span', {dir: 'auto'}, text));
  if (undo) {
    box.append(make('button', {type: 'button', onclick: () => { box.remove(); undo.act(); }}, undo.label));
  }
  box.append(make('button', {type: 'button', class: 'quiet', 'aria-label': said.close, onclick: () => box.remove()}, '×'));
  const toasts = document.getElementById('toasts');
  toasts.append(box);
  while (toasts.children.length > 3) toasts.firstElementChild.remove();
  setTimeout(() => box.remove(), kind === 'failure' ? 20000 : undo ? 12000 : 6000);
}

/** Do something; tell a person when it fails. */
export async function attempt(work, button = null) {
  if (button) button.disabled = true;
  try {
    return await work();
  } catch (error) {
    if (error.name !== 'AbortError') toast(error instanceof Refused ? error.message : said.lost, {kind: 'failure'});
    return undefined;
  } finally {
    if (button) button.disabled = false;
  }
}

/** Listen to what happens: on('settings' | 'memories' | 'work', data => ...). */
let source = null;
let isLost = false;
export function on(name, listener) {
  if (!source) {
    source = new EventSource('/events');
    source.onerror = () => { if (!isLost) { isLost = true; toast(said.lost, {kind: 'failure'}); } };
    source.addEventListener('hello', () => { if (isLost) { isLost = false; toast(said.back); } });
    window.addEventListener('pagehide', () => source.close());
  }
  source.addEventListener(name, event => listener(JSON.parse(event.data)));
}

/** Wait until typing pauses. */
export function settled(act, wait = 250) {
  let timer;
  return (...given) => { clearTimeout(timer); timer = setTimeout(() => act(...given), wait); };
}

for (const button of document.querySelectorAll('[data-language]')) {
  button.addEventListener('click', () => attempt(async () => {
    await post('/appearance', {language: button.dataset.language});
    location.reload();
  }, button));
}
const theme = document.getElementById('theme');
theme?.addEventListener('change', () => attempt(async () => {
  await post('/appearance', {theme: theme.value});
  document.documentElement.dataset.theme = theme.value;
}));
// Copying: <button data-copy="#id">
for (const button of document.querySelectorAll('[data-copy]')) {
  button.addEventListener('click', () => attempt(async () => {
    await navigator.clipboard.writeText(document.querySelector(button.dataset.copy).textContent);
    toast(button.dataset.said);
  }));
}
