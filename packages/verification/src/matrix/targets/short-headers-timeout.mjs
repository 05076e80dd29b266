// Preloaded into a server without such an option. Sets Node's time limit for request headers, in
// milliseconds, from the environment.
import http from 'node:http';

const { createServer } = http;
const limits = {
  headersTimeout: Number(process.env.HEADERS_TIMEOUT_MS),
  connectionsCheckingInterval: 50,
};
http.createServer = (...args) =>
  typeof args[0] === 'object'
    ? createServer({ ...args[0], ...limits }, args[1])
    : createServer(limits, args[0]);
