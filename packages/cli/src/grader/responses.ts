/** The statuses of the final responses in what a server sent, without 100 Continue. */
export function statusesOf(text: string): number[] {
  const statuses: number[] = [];
  for (let at = 0; at < text.length;) {
    const rest = text.slice(at);
    const head = /^HTTP\/1\.[01] (\d{3})[^\n]*\r?\n(?:[^\r\n]+\r?\n)*\r?\n/.exec(rest);
    if (head === null) break;
    const status = Number(head[1]);
    if (status >= 200) statuses.push(status);
    at += head[0].length + bodyLength(status, head[0], rest.slice(head[0].length));
  }
  return statuses;
}

/** The length of a body (RFC 9112, 6.3). It may be more than has come. */
function bodyLength(status: number, head: string, rest: string): number {
  if (status < 200 || status === 204 || status === 304) return 0;
  if (/\ntransfer-encoding:[^\n]*chunked/i.test(head)) return chunksLength(rest);
  const length = /\ncontent-length: *(\d+)/i.exec(head)?.[1];
  // Without a length, the body ends with the connection.
  return length === undefined ? Infinity : Number(length);
}

function chunksLength(text: string): number {
  for (let at = 0; ;) {
    const [line, size] = /^([\da-f]+)[^\n]*\n/i.exec(text.slice(at)) ?? [];
    if (line === undefined || size === undefined) return Infinity;
    at += line.length;
    if (Number.parseInt(size, 16) === 0) {
      // Trailer fields may follow, then an empty line.
      const end = /^(?:[^\r\n]+\r?\n)*\r?\n/.exec(text.slice(at));
      return end === null ? Infinity : at + end[0].length;
    }
    at += Number.parseInt(size, 16) + 2;
  }
}

/** Whether the server says with its first response that it closes the connection (RFC 9112, 9.3). */
export function closesConnection(text: string): boolean {
  const head = /^[^]*?\r?\n\r?\n/.exec(text)?.[0] ?? '';
  if (/\nconnection:[^\n]*\bclose\b/i.test(head)) return true;
  return head.startsWith('HTTP/1.0') && !/\nconnection:[^\n]*\bkeep-alive\b/i.test(head);
}
