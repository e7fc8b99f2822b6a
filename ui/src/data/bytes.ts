// Blocks as docs/page.md describes them: gzip in base64, integers as zigzag LEB128.

/** The bytes of a block. Rejects what is no gzip stream in base64. */
export async function unpacked(base64: string): Promise<Uint8Array> {
  const binary = atob(base64.trim());
  const packed = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) packed[i] = binary.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads one integer after the other. */
export class Integers {
  private at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  get ended(): boolean {
    return this.at >= this.bytes.length;
  }

  /** The next integer as the number of what follows: each takes a byte at least. */
  count(): number {
    const count = this.next();
    if (count < 0 || count > this.bytes.length - this.at)
      throw new RangeError("the block ends before what it counts");
    return count;
  }

  /** The next text. */
  text(): string {
    const end = this.count() + this.at;
    const text = new TextDecoder().decode(this.bytes.subarray(this.at, end));
    this.at = end;
    return text;
  }

  /** The next integer; throws where the block was cut off. */
  next(): number {
    const { bytes } = this;
    // Four bytes fit into the 32 bits of bitwise arithmetic; longer ones are rare.
    let zigzag = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = bytes[this.at++];
      if (byte === undefined) throw new RangeError("the block ends inside a number");
      zigzag |= (byte & 0x7f) << shift;
      if (byte < 0x80) return zigzag & 1 ? -((zigzag + 1) / 2) : zigzag / 2;
    }
    let scale = 2 ** 28;
    for (;;) {
      const byte = bytes[this.at++];
      if (byte === undefined) throw new RangeError("the block ends inside a number");
      zigzag += (byte & 0x7f) * scale;
      scale *= 128;
      if (byte < 0x80) return zigzag % 2 === 1 ? -((zigzag + 1) / 2) : zigzag / 2;
    }
  }
}
