// Files are read in init, relative to the script.
const users = JSON.parse(open('./lib/users.json'));
const bytes = open('./lib/users.json', 'b');
export default function () {
  console.log(users.length, users[1].name, bytes.byteLength, bytes instanceof ArrayBuffer);
  try { open('./lib/users.json'); } catch (e) { console.log(e.message.split(',')[0]); }
}
