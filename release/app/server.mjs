// The app of a user, with one line of ours.
import { once } from 'node:events';
import { callWebhooks } from '@call-webhooks/express';
import express from 'express';

const seen = [];
const see = ({ eventName }) => {
  seen.push(eventName);
};
const app = express();
app.all(
  '/hook',
  callWebhooks({
    secret: [process.env.CALL_WEBHOOK_SECRET, process.env.RECORDING_WEBHOOK_SECRET],
    on: { 'call:started': see, 'call:completed': see, 'call:recording-available': see },
  }),
);
app.get('/seen', (_request, response) => response.json(seen));
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
console.log(JSON.stringify({ port: server.address().port }));
