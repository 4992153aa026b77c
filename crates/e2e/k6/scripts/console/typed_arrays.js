// Typed arrays and buffers of other widths.
export default function () {
  console.log(new Float64Array([1.5, -2]), new Int16Array([1, -1]));
  console.log({ b: new Uint8Array([1]) }, [new ArrayBuffer(1)]);
  console.log(new Uint8Array(0), new ArrayBuffer(0));
}
