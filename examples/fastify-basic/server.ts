// A receiver in Fastify. Needs CALL_WEBHOOK_SECRET; listens on PORT, or on a free port.
import callWebhooks from '@call-webhooks/fastify';
import fastify from 'fastify';
import '../plain-errors.ts';

const app = fastify({ logger: true });

app.register(
  callWebhooks({
    path: '/hook',
    secret: process.env['CALL_WEBHOOK_SECRET'],
    on: {
      'call:completed': (event, { log, attempt }) => {
        log.info({ attempt }, `call ${event.callId ?? '?'} completed`);
      },
      'call:recording-available': (event, { log }) => {
        log.warn(
          `call ${event.callId} has a recording of ${String(event.recordingDurationSeconds)} s`,
        );
      },
    },
  }),
);

// The rest of the app keeps its JSON parser.
app.post('/echo', (request) => request.body);

const origin = await app.listen({ port: Number(process.env['PORT'] ?? 0), host: '127.0.0.1' });
process.send?.({ url: `${origin}/hook` });

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void app.close());
}
