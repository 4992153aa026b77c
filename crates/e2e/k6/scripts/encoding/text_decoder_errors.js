// Bytes that are no text.
export default function () {
  console.log(escape(new TextDecoder().decode(new Uint8Array([65, 0xff, 66]))));
  try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xff])); } catch (e) { console.log(e.name); }
  try { new TextDecoder('no-such-label'); } catch (e) { console.log(e.name); }
}
