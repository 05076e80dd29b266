// The receiver of the benchmark, in a process of its own: it reads every body and answers 200.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let received = 0;
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    received++;
    response.end();
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ url: `http://127.0.0.1:${String(port)}/hook` });
});
process.on('message', () => process.send?.({ received }));
process.on('disconnect', () => process.exit(0));
