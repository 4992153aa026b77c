// UTF-8 and UTF-16, there and back.
export default function () {
  const bytes = new TextEncoder().encode('aé€😀'); console.log(bytes.length, bytes.join(), new TextDecoder().decode(bytes), new TextEncoder().encoding, new TextDecoder().encoding);
  console.log(new TextDecoder('utf-8').decode(new Uint8Array([0xef, 0xbb, 0xbf, 65])), new TextDecoder('utf-16le').decode(new Uint8Array([65, 0, 66, 0])), new TextEncoder().encode('').length, new TextDecoder().decode(new Uint8Array([65, 66]).buffer));
}
