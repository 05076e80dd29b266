import { connect } from 'node:net';
import { sign } from '@call-webhooks/core';

/**
 * Sends a signed delivery whose body stops in the middle.
 * @returns the first line of the response, or what came of it until the connection ended
 */
export async function sendHalf(url: string, secret: string, body: string): Promise<string> {
  const { hostname, port, host, pathname } = new URL(url);
  const headers = {
    host,
    'content-type': 'application/json',
    ...(await sign({ secret, body })),
    'content-length': String(Buffer.byteLength(body)),
  };
  const socket = connect(Number(port), hostname);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.write(`${[`POST ${pathname} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`);
  socket.write(body.slice(0, 10));
  let response = '';
  for await (const chunk of socket) {
    response += String(chunk);
    if (response.includes('\r\n')) break;
  }
  socket.destroy();
  return response.split('\r\n', 1)[0] ?? '';
}
