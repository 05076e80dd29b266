// A receiver written from the service's interface alone, with node:http and createHmac.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

let key;

function verified(headers, body) {
  const [id, timestamp, signature] = ['webhook-id', 'timestamp', 'signature'].map(
    (name) => headers[`x-service-${name}`] ?? '',
  );
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false;
  const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body);
  const [right, given] = [`v1,${hmac.digest('base64')}`, signature].map((text) =>
    Buffer.from(text),
  );
  return right.length === given.length && timingSafeEqual(right, given);
}

const server = createServer((request, response) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => {
    const body = Buffer.concat(pieces);
    if (request.url === '/secret') {
      key = Buffer.from(body.toString().replace('whsec_', ''), 'base64');
      response.end();
      return;
    }
    const authentic = key !== undefined && verified(request.headers, body);
    response.statusCode = authentic ? 204 : 401;
    response.end();
    console.log(JSON.stringify({ verified: authentic, eventName: JSON.parse(body).eventName }));
  });
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })));
