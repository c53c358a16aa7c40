// Arrays are kept as differences of their bits from row to row, byte by byte, deflated (cbsim/page/packing.py).
const KINDS = { f4: Float32Array, f8: Float64Array, i4: Int32Array, u4: Uint32Array };

async function inflate(text) {
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function unpack(bytes, { at, kind, count, row }) {
  const size = KINDS[kind].BYTES_PER_ELEMENT;
  const plain = new Uint8Array(count * size);
  for (let byte = 0; byte < size; byte++)
    for (let i = 0; i < count; i++) plain[i * size + byte] = bytes[at + byte * count + i];
  if (row) {
    const bits = new Int32Array(plain.buffer);
    for (let i = row; i < count; i++) bits[i] = (bits[i] + bits[i - row]) | 0;
  }
  return new KINDS[kind](plain.buffer);
}
