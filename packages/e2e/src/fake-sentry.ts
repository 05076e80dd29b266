import { serveLocally } from '@call-webhooks/contract-tests';

interface SentryEvent {
  exception: { values: { type: string; value: string; stacktrace?: { frames: unknown[] } }[] };
  extra: Record<string, unknown>;
}

/** The service that Sentry's transport sends to. */
export async function fakeSentry() {
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
