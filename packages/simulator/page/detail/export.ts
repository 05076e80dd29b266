import type { Attempt, DeliveryView } from '@call-webhooks/simulator/control-api';

/** The same request as a shell command. Its signature is valid for five minutes. */
export function curlCommand({ url, headers, body }: Attempt['request']): string {
  const lines = [`curl -i ${quoted(url)}`];
  for (const [name, value] of Object.entries(headers))
    if (!/^content-length$/i.test(name)) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  return [...lines, `--data-raw ${quoted(body)}`].join(' \\\n  ');
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** All attempts as an HTTP archive (HAR 1.2), which browsers and proxies can open. */
export function harOf({ attempts, eventName, number }: DeliveryView): unknown {
  const creator = { name: 'call-webhooks inspector', version: '0.1.0' };
  const comment = `${eventName} #${String(number)}`;
  return { log: { version: '1.2', creator, comment, entries: attempts.map(entryOf) } };
}

function entryOf({ startedAt, tookMs = -1, request, response, droppedResponse }: Attempt) {
  const answer = droppedResponse ?? response;
  return {
    startedDateTime: new Date(startedAt).toISOString(),
    time: Math.max(0, tookMs),
    request: {
      ...message(request.headers, request.body),
      method: 'POST',
      url: request.url,
      queryString: [...new URL(request.url).searchParams].map(([name, value]) => ({ name, value })),
      postData: { mimeType: request.headers['Content-Type'] ?? '', text: request.body },
    },
    response:
      answer?.kind === 'status'
        ? {
            ...message(answer.headers, answer.body),
            status: answer.status,
            statusText: '',
            redirectURL: '',
            content: {
              size: answer.body.length,
              mimeType: [answer.headers['content-type'] ?? ''].flat().join(),
              text: answer.body,
            },
          }
        : {
            ...message({}, ''),
            status: 0,
            statusText: answer?.kind ?? 'in flight',
            redirectURL: '',
            content: { size: 0, mimeType: '' },
          },
    cache: {},
    timings: { send: 0, wait: Math.max(0, tookMs), receive: 0 },
  };
}

const message = (
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  body: string,
) => ({
  httpVersion: 'HTTP/1.1',
  cookies: [],
  headers: Object.entries(headers).flatMap(([name, value]) =>
    [value ?? ''].flat().map((one) => ({ name, value: one })),
  ),
  headersSize: -1,
  bodySize: new TextEncoder().encode(body).length,
});

/** Saves a value as a JSON file of the user. */
export function download(name: string, value: unknown): void {
  const blob = new Blob([JSON.stringify(value, null, 2)], { type: 'application/json' });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser reads the file after the click.
  setTimeout(() => {
    URL.revokeObjectURL(link.href);
  }, 60_000);
}
