// try without catch.
export default function () {
  try {
    sleep(1);
  }
}
