import { expect, it } from '@jest/globals';
import {
  callBody,
  freePort,
  runSample,
  serveLocally,
  startSender,
  waitFor,
} from '@call-webhooks/contract-tests';
import { generateSecret } from '@call-webhooks/core';

interface SentryEvent {
  exception: { values: { type: string; value: string; stacktrace?: { frames: unknown[] } }[] };
  extra: Record<string, unknown>;
}

/** The service that Sentry's transport sends to. */
async function fakeSentry() {
  const events: SentryEvent[] = [];
  const server = await serveLocally((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const lines = text.split('\n').map((line) => JSON.parse(line || '{}') as SentryEvent);
      events.push(...lines.filter((line) => 'exception' in line));
      response.end('{}');
    });
  });
  return {
    events,
    dsn: `${server.origin.replace('//', '//public@')}/1`,
    close: () => server.close(),
  };
}

it('sample 1 of docs/observability.md: Sentry gets the original error, with its cause and the call', async () => {
  const sentry = await fakeSentry();
  const secret = generateSecret();
  const [port, closed] = [String(await freePort()), String(await freePort())];
  const sample = runSample({
    test: import.meta.url,
    document: '../../observability.md',
    block: 1,
    replace: { '3000': port, 'https://crm.example.com': `http://127.0.0.1:${closed}` },
    env: {
      CALL_WEBHOOK_SECRET: secret,
      RECORDING_WEBHOOK_SECRET: generateSecret(),
      SENTRY_DSN: sentry.dsn,
    },
  });
  try {
    await sample.printed('started');
    const sender = startSender(`http://127.0.0.1:${port}/hook`, secret);
    expect((await sender.post(callBody('call-1'))).outcome).toBe('handler-failed');
    await waitFor(() => sentry.events.length > 0);
    const [event] = sentry.events;
    // Sentry lists the cause first.
    expect(event?.exception.values.map(({ type, value }) => `${type}: ${value}`)).toEqual([
      `Error: connect ECONNREFUSED 127.0.0.1:${closed}`,
      'TypeError: fetch failed',
    ]);
    const frames = JSON.stringify(event?.exception.values[1]?.stacktrace?.frames);
    // Node 24 gives the error of fetch no frames of its caller.
    if (Number.parseInt(process.versions.node) < 24) expect(frames).toContain('await fetch(url'); // a line of the sample
    expect(event?.extra).toMatchObject({
      code: 'handler-failed',
      source: 'handler',
      eventName: 'call:completed',
      callId: 'call-1',
      key: 'call-1:call:completed',
      webhookId: expect.any(String),
      attempt: 1,
      lastAttempt: false,
      late: false,
      queued: false,
    });
  } finally {
    await sample.end();
    await sentry.close();
  }
});
