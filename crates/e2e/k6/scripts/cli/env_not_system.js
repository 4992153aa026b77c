//@ env: FROM_SYSTEM=system
//@ args: --include-system-env-vars=false -e GIVEN=yes
// Variables of the system can be left out.
export default function () { console.log(__ENV.FROM_SYSTEM, __ENV.GIVEN); }
