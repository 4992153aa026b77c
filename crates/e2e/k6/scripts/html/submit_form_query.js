// What a form sends: GET replaces the query of its action; methods, buttons and parameters.
import http from 'k6/http';
const page = (form) => `<html><body>${form}</body></html>`;
const B = __ENV.BASE;
const forms = {
  plain: `<form action="/anything/a"><input name="q" value="x y"></form>`,
  query: `<form action="/anything/a?old=1&b=2"><input name="q" value="x"></form>`,
  none: `<form><input name="q" value="x"></form>`,
  empty: `<form action="/anything/a?old=1"></form>`,
  mark: `<form action="/anything/a?"></form>`,
  fragment: `<form action="/anything/a?old=1#frag"><input name="q" value="é&="></form>`,
  list: `<form action="/anything/a"><select name="s" multiple><option selected>1</option><option selected>2</option></select><input type="checkbox" name="c" checked></form>`,
  lower: `<form method="get" action="/anything/a?z=1"><input name="q" value="v"></form>`,
  put: `<form method="put" action="/anything/a?z=1"><input name="q" value="v"></form>`,
  button: `<form action="/anything/a"><input name="q" value="v"><button type="submit" name="b">B</button></form>`,
  button2: `<form action="/anything/a"><button type="submit" name="b" value="1">B</button><button type="submit" name="c" value="2">B</button></form>`,
  nameless: `<form action="/anything/a"><input type="submit" value="go"></form>`,
};
export default function () {
  const tell = (name, f) => { try { const r = f(); console.log(name, r.request.method, r.request.url.replace(B, ''), r.request.body, r.status, JSON.stringify(r.request.headers['Content-Type'])); } catch (e) { console.log(name, e.name, e.message.replace(B, '')); } };
  for (const [name, form] of Object.entries(forms)) {
    const r = http.post(`${B}/echo/page?k=1`, page(form), { headers: { 'Content-Type': 'text/html' } });
    tell(name, () => r.submitForm());
  }
  const r = http.post(`${B}/echo/page?k=1`, page(forms.query + forms.button2), { headers: { 'Content-Type': 'text/html' } });
  tell('fields', () => r.submitForm({ fields: { q: 'mine', n: null, u: undefined, num: 1.5, arr: ['a', 'b'], o: { x: 1 }, t: true } }));
  tell('fields no object', () => r.submitForm({ fields: 'abc' }));
  tell('fields number', () => r.submitForm({ fields: 5 }));
  tell('fields null', () => r.submitForm({ fields: null }));
  tell('submit selector', () => r.submitForm({ formSelector: 'form:nth-of-type(2)', submitSelector: '[name=c]' }));
  tell('submit none', () => r.submitForm({ formSelector: 'form:nth-of-type(2)', submitSelector: '.none' }));
  tell('params', () => r.submitForm({ params: { headers: { 'Content-Type': 'x/y' }, tags: { a: 'b' } } }));
  tell('params bad', () => r.submitForm({ params: { timeout: 'x' } }));
  tell('no form', () => r.submitForm({ formSelector: '.none' }));
  tell('null', () => r.submitForm(null));
  tell('undefined', () => r.submitForm(undefined));
  tell('number', () => r.submitForm(4));
  tell('link', () => http.post(`${B}/echo/page`, page('<a href="/anything/l?x=1#f">l</a>'), { headers: { 'Content-Type': 'text/html' } }).clickLink());
  tell('link null', () => r.clickLink(null));
  tell('link bad', () => http.post(`${B}/echo/page`, page('<a href="http://h:bad/">l</a>')).clickLink());
  tell('action bad', () => http.post(`${B}/echo/page`, page('<form action="http://h:bad/"></form>')).submitForm());
}
