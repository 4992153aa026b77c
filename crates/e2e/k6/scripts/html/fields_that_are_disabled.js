// Which fields are enabled, and which are not.
import { parseHTML } from 'k6/html';
const page = parseHTML(`<form>
<fieldset id=off disabled>
  <legend><input id=legend></legend><legend><input id=second></legend>
  <input id=inside><button id=button></button><select id=select><option id=option></select><p><textarea id=deep></textarea></p>
</fieldset>
<fieldset id=on><input id=free><input id=own disabled></fieldset>
<select id=list disabled><optgroup id=group disabled><option id=a><optgroup id=other><option id=b disabled></select>
<a id=link href=x></a><a id=name></a><a id=odd disabled href=y></a><menuitem id=item></menuitem>
<map><area id=area href=z></map><div id=box disabled></div><output id=output></output>
</form>`);
export default function () {
  for (const selector of [':enabled', ':disabled', 'input:enabled', 'div:disabled', 'a:disabled', 'input:not(:disabled)']) {
    console.log(selector, page.find(selector).map((_, element) => element.attr('id')).join(' '));
  }
}
