import { checkOptions, loggedError, option, WebhookError, type Around } from '@call-webhooks/core';
import { anonymize } from './anonymize.ts';
import { Fakes } from './fakes.ts';
import { readFixturesIfAny, writeFixtures } from './fixture-file.ts';

/** Options of `record`. */
export interface RecordOptions {
  /** The file of fixtures. What it has already stays. */
  file: string;
  /**
   * Names of fields whose values are kept as they are: only those of which you know that they never
   * hold anything personal.
   */
  keep?: readonly string[] | undefined;
}

/** Writes deliveries to a file of fixtures. */
export interface Recorder {
  /** For the option `around` of a receiver or worker: records each event before its handler runs. */
  readonly around: Around;
  /**
   * Records one body: raw, as text, or parsed.
   * @throws WebhookError `invalid-payload` if it is not JSON
   */
  readonly add: (body: Uint8Array | string | object) => void;
}

const rules = () => ({
  file: option.text(/./, 'expected the path of a file'),
  keep: option.optional(option.object<readonly string[]>('includes', 'map')),
});

/**
 * Turns real deliveries into fixtures that `replay` delivers. Only their shape is real: phone numbers,
 * names, e-mail addresses, ids, URLs and free texts are replaced by fakes, the same everywhere for the
 * same value. No signature is kept.
 *
 * Numbers are consistent within one recorder. A file that is continued gets new fakes.
 * @throws WebhookError `invalid-options`, also if the file was not written by `record`
 * @example
 * const recorder = record({ file: 'test/calls.json' });
 * app.all('/hook', callWebhooks({ secret, on, around: recorder.around }));
 */
export function record(options: RecordOptions): Recorder {
  const { file, keep = [] } = checkOptions('record', rules(), options);
  const bodies = [...readFixturesIfAny(file)];
  const recorded = new Set(bodies.map((body) => JSON.stringify(body)));
  const fakes = new Fakes(bodies.flatMap(textsOf));
  const kept = new Set(keep);

  const add = (body: Uint8Array | string | object) => {
    const fixture = anonymize(parsed(body), fakes, kept);
    const text = JSON.stringify(fixture);
    if (recorded.has(text)) return; // the retry of an event
    recorded.add(text);
    bodies.push(fixture);
    writeFixtures(file, bodies);
  };
  return {
    add,
    around(run, _event, { rawBody, log }) {
      try {
        add(rawBody);
      } catch (error) {
        // Recording must not make the handler fail.
        log.warn({ error: loggedError(error) }, 'record: the delivery was not recorded');
      }
      return run();
    },
  };
}

function parsed(body: Uint8Array | string | object): unknown {
  if (!(body instanceof Uint8Array) && typeof body !== 'string') return body;
  try {
    return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body));
  } catch {
    throw new WebhookError('invalid-payload', 'record: the body is not JSON.');
  }
}

/** Every text and number in a value, as text. */
function textsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [String(value)];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...textsOf(inner)]);
}
