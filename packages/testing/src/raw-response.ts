/** What came back. */
export interface RawResponse {
  readonly status: number;
  readonly body: string;
}

const END_OF_HEAD = '\r\n\r\n';

/** Puts together the response that a server writes to a connection, after which it closes that one. */
export class RawResponseParser {
  #received = Buffer.alloc(0);

  push(bytes: Uint8Array): void {
    this.#received = Buffer.concat([this.#received, bytes]);
  }

  /**
   * The response once it is complete.
   * @param isAtEnd whether nothing more will come, which completes a body without a length
   */
  response(isAtEnd: boolean): RawResponse | undefined {
    const end = this.#received.indexOf(END_OF_HEAD);
    if (end === -1) return undefined;
    const head = this.#received.subarray(0, end).toString('latin1');
    const rest = this.#received.subarray(end + END_OF_HEAD.length);
    const status = Number(/^HTTP\/1\.\d (\d{3})/.exec(head)?.[1]);
    if (status < 200) {
      // 100 Continue and 103 Early Hints come before the response.
      this.#received = rest;
      return this.response(isAtEnd);
    }
    const body = bodyOf(head, status, rest, isAtEnd);
    return body && { status, body: body.toString() };
  }
}

const header = (head: string, name: string): string | undefined =>
  new RegExp(`\\r\\n${name}:[ \\t]*([^\\r]*)`, 'i').exec(head)?.[1];

function bodyOf(head: string, status: number, rest: Buffer, isAtEnd: boolean): Buffer | undefined {
  if (status === 204 || status === 304) return Buffer.alloc(0);
  if (/\bchunked\s*$/i.test(header(head, 'transfer-encoding') ?? '')) return dechunked(rest);
  const length = header(head, 'content-length');
  if (length === undefined) return isAtEnd ? rest : undefined;
  return rest.length >= Number(length) ? rest.subarray(0, Number(length)) : undefined;
}

/** The body of all chunks, or `undefined` until the last one is there. */
function dechunked(rest: Buffer): Buffer | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const line = rest.indexOf('\r\n', at);
    if (line === -1) return undefined;
    const size = Number.parseInt(rest.subarray(at, line).toString('latin1'), 16);
    if (size === 0) return Buffer.concat(chunks);
    const from = line + 2;
    if (rest.length < from + size + 2) return undefined;
    chunks.push(rest.subarray(from, from + size));
    at = from + size + 2;
  }
}
