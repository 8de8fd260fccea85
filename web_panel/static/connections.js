// Trying the model.
import {attempt, on, post} from '/static/panel.js';

const tried = document.getElementById('tried'), words = tried.dataset;
document.getElementById('try').addEventListener('click', event => attempt(async () => {
  tried.textContent = words.trying;
  const found = await post('/connections/try').catch(error => { tried.textContent = ''; throw error; });
  const sentence = found.works ? words.works : words.fails;
  tried.textContent = sentence.replace('{model}', found.model).replace('{dims}', found.dims).replace('{ms}', found.latency_ms) + ' ' + found.said;
}, event.currentTarget));
on('settings', () => location.reload());
