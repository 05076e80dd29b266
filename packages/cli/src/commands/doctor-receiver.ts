import type { App } from '../app.ts';
import { basicOptions, grade, isBasic, receiverWith, serverErrorOf } from '../grader/grade.ts';
import { type GradedReceiver, isAcknowledged } from '../grader/receiver.ts';
import { BASELINE } from '../grader/vectors.ts';
import { describeResult } from '../http/effects.ts';
import { post } from '../http/post.ts';
import { givenSecrets } from '../input/secrets.ts';
import { targetUrl } from '../input/target.ts';
import { toCliError } from '../library-error.ts';
import { duration } from '../terminal/format.ts';
import { bad, type Found, ok, skipped, warn } from './diagnosis.ts';
import type { DoctorOptions } from './doctor-options.ts';

/** Checks the processes of `--to` one after another. What is wrong with one hides nothing of another. */
export async function receivers(app: App, options: DoctorOptions): Promise<Found | Found[]> {
  const { to = [] } = options;
  if (to.length === 0) return skipped('Pass --to URL.');
  const urls = to.map((one) => targetUrl(one, options.allowExternal));
  const all: Found[] = [];
  for (const url of urls) {
    const found = await examine(app, url, options).catch((error: unknown): Found[] => {
      app.signal.throwIfAborted();
      const { message, fix } = toCliError(error);
      return [bad(message, fix)];
    });
    const whose = urls.length > 1 ? `${url}: ` : '';
    all.push(...found.map((one) => ({ ...one, text: whose + one.text })));
  }
  return all;
}

async function examine(app: App, url: string, options: DoctorOptions): Promise<Found[]> {
  const secrets = await givenSecrets(app.io, options);
  const graded = await receiverWith(basicOptions(app, { ...options, url }), secrets);
  const { secret } = graded.options;
  const grades = await grade(graded, isBasic);
  const failure = serverErrorOf(grades);
  if (failure !== undefined) return [bad(failure, "Read the receiver's log.")];
  const all = grades
    .filter(({ result }) => result === 'fail')
    .map(({ check: { title }, saw, fix }) => bad(`${title}: ${saw}.`, fix));
  const genuine =
    secret === undefined
      ? 'Without a secret, no genuine delivery was sent'
      : 'A genuine delivery is acknowledged';
  if (all.length === 0) all.push(ok(`A forged delivery is rejected. ${genuine}.`));
  if (grades.some(({ check, result }) => check.id === BASELINE && result === 'pass'))
    all.push(...(await deliver(graded, secrets)));
  return [...all, await unknownPath(app, url, options), clock(graded.clockAhead)];
}

/** Above what body parsers take by default; bytes. */
const LARGE_BODY = 262_144;

/** Delivers an event that nobody handles: with each secret but that of the receiver, and a large one. */
async function deliver(receiver: GradedReceiver, secrets: readonly string[]): Promise<Found[]> {
  const send = async (secret?: string, padding = '') => {
    const { callId, name: eventName } = receiver.event();
    const body = JSON.stringify({ eventName, callId, padding });
    const result = await receiver.send(receiver.sign(body, secret));
    return isAcknowledged(result) ? undefined : describeResult(result);
  };
  const all: Found[] = [];
  for (const [at, other] of secrets.entries()) {
    const refused = other === receiver.options.secret ? undefined : await send(other);
    const which = `secret ${at + 1} of ${secrets.length}`;
    if (refused)
      all.push(
        bad(
          `A delivery that was signed with ${which} was not acknowledged: ${refused}.`,
          'Configure this secret in the receiver as well.',
        ),
      );
  }
  const refused = await send(undefined, 'x'.repeat(LARGE_BODY));
  const fix = 'Raise the limit of the proxy and of the framework to 1 MB.';
  const large = refused
    ? bad(`A body of 256 kB was not acknowledged: ${refused}.`, fix)
    : ok('A body of 256 kB is acknowledged.');
  return [...all, { ...large, check: 'large body' }];
}

async function unknownPath(
  { signal }: App,
  url: string,
  { insecure, timeout }: DoctorOptions,
): Promise<Found> {
  const other = new URL(url);
  other.pathname += other.pathname.endsWith('/') ? 'typo' : '-typo';
  const headers = { 'Content-Type': 'application/json' };
  const request = { url: other.href, headers, body: Buffer.from('{}'), timeout, insecure };
  const answer = describeResult(await post(request, signal));
  const text = `A request to ${other.pathname} results in ${answer}.`;
  const risk = 'A typo in the path of a rule would pause the rule at once.';
  const result =
    answer === '404' ? warn(`${text} ${risk}`, 'Return 503 for unknown paths.') : ok(text);
  return { ...result, check: 'unknown path' };
}

/** Of the five minutes of the spec, one is left for the way. @param ahead seconds */
function clock(ahead: number | undefined): Found {
  const check = 'clock';
  if (ahead === undefined)
    return { ...skipped('The responses of the receiver have no Date header.'), check };
  const off = Math.abs(ahead) * 1_000;
  if (off < 30_000)
    return { ...ok("The receiver's clock agrees with the clock of this machine."), check };
  const text = `The receiver's clock is ${duration(off)} ${ahead > 0 ? 'ahead of' : 'behind'} the clock of this machine. From 5 minutes on, all deliveries are rejected.`;
  const fix = 'Synchronize both clocks with NTP.';
  return { ...(off < 240_000 ? warn : bad)(text, fix), check };
}
