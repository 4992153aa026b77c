// Words behind colons, texts, counts and what is refused: what matches, and what cannot be read and so matches nothing.
import { parseHTML } from 'k6/html';
const page = parseHTML(`<!DOCTYPE html><html lang="en"><head><title>T</title></head><body>
<div id="a" class="X y"><p id="p1">one <b id="bold">bold</b></p><p id="p2" class="c">two</p><!-- c --><span id="s1"></span><span id="s2"> </span></div>
<div id="d" lang="en-US"><p id="p3">only <i id="i">two</i></p></div><p id="q" lang="EN">Q 1.5 (x)</p>
<ul id="u"><li id="l1">1</li><li id="l2" class="k">2</li><li id="l3">3 <i id="t">two</i></li><li id="l4">4</li></ul>
<a id="1a" href="/x?y">l</a><a id="n" name="n">n</a><svg viewBox="0 0"><linearGradient id="lg"/></svg>
<input id="in" TYPE=CHECKBOX CHECKED data-v="Foo bar" data-w="  " title='a"b'><my-el id="my" x-y="1"></my-el></body></html>`);
const selectors = [
  ':containsOwn(two)', 'p:containsOwn("one")', 'p:CONTAINSOWN(ONE)', ':contains(bold)', 'p:contains("one b")', 'p:contains(one b)', 'p:contains()', 'p:contains("")',
  'li:matches(^[1-3]$)', 'li:matchesOwn(^3)', 'p:matches(\\(x\\))', 'p:matches((x))', 'p:matches()', 'p:matches([)', 'li:contains(1)', 'li:contains("1")', 'p:contains(\\31 .5)',
  'div:has(b)', 'div:has(> p)', 'div:haschild(b)', 'p:haschild(b)', 'body:has(div:has(b))', ':has()', 'div:not(:has(b))', 'p:not(.c, #q)', 'p:not(:not(.c))', ':is(p)', ':where(p)', 'p:not(p', 'p:not(b))',
  'li:nth-child(2n+1)', 'li:nth-child( odd )', 'li:nth-child(-n + 2)', 'li:nth-child(2n - 1)', 'li:nth-child(n)', 'li:nth-child(+3)', 'li:nth-child(0n+3)', 'li:nth-child(x)', 'li:nth-child(2 n)', 'li:nth-child(2n+)', 'li:nth-last-child(2)', 'p:nth-of-type(2)', 'p:nth-last-of-type(n+2)', 'li:nth-child(2 of .k)',
  'p:only-child', 'p:only-of-type', 'b:only-child', ':root', ':empty', 'span:empty', ':link', 'a:link', ':visited', 'a:not(:hover)', ':lang(en)', 'p:lang(en)', 'p:lang(EN)', ':input', ':checked', ':selected', ':eq(0)', 'li:first', ':parent', ':scope', '::before', 'p::first-line',
  '[href=/x?y]', '[href="/x?y"]', '[class=x]', '[class=x i]', '[class~=Y i]', '[class="X y"]', '[class|=X]', '[lang|=en]', '[lang|=en i]', '[data-w^=""]', '[data-w^=" "]', '[href^=""]', '[data-v$=BAR i]', '[data-v*="o b"]', 'input[data-v!="Foo bar"]', 'p[data-v!=x]', '[data-v#=^F.o]', '[data-v#=(?i)foo]', '[data-v#=(]', '[data-v==x]', '[title="a\\"b"]', "[title='a\"b']", '[ data-v = "Foo bar" ]', '[data-v="Foo bar" s]', '[viewBox]', '[viewbox]', '[TYPE]', '[title', '[]', '[a b]', '[=x]',
  'linearGradient', '#lg', 'svg *', '#1a', '#\\31 a', 'a#\\000031a', 'my-el[x-y="1"]', 'my-el[x-y=1]', 'p + p', 'p ~ span', 'span ~ p', 'div + div', 'p > b', 'div>p>b', 'body div b', 'ul > li ~ li + li', '> p', 'p >', 'p > > b', '~ p', '*.c', '*', '**', '*|p', 'p/* x */b', 'p /* x */ b', '/* x */ p b', 'p,', ',p', 'p,,b', 'b, i, b', 'p:', 'p.', '#', 'p!', 'P', 'DIV.X', 'div.x', '', ' ',
];
const named = (found) => found.toArray().map((one) => one.attr('id') || one.get(0).nodeName()).join(' ');
export default function () {
  for (const selector of selectors) console.log(JSON.stringify(selector), named(page.find(selector).slice(0, 12)));
  // Questions that are not about elements alone are put to texts too.
  const contents = page.find('#a, #p1').contents();
  for (const selector of ['*', ':contains(one)', ':containsOwn(one)', ':contains("")', ':not(b)', ':matches(.)', ':lang(en)', ':lang(en-US)'])
    console.log(selector, contents.filter(selector).size(), contents.not(selector).size(), contents.is(selector), contents.closest(selector).size(), contents.index(selector), page.find('p').find(selector).size(), page.find('p').has(selector).size());
}
