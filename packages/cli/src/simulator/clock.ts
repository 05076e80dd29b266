import type { AttemptSummary, ClockView, WebhookEventSummary } from '@call-webhooks/simulator';
import { CliError, EXIT } from '../errors.ts';
import type { Connection } from './connection.ts';

const ALL = { limit: 1_000_000 };

/** An attempt that has ended, and its event. */
export interface Ended {
  readonly event: WebhookEventSummary;
  readonly attempt: AttemptSummary;
}

/** The clock after it was advanced, and the attempts that ended meanwhile, in the order of their end. */
export interface Advanced {
  readonly clock: ClockView;
  readonly ended: readonly Ended[];
}

/** Advances the clock of the simulator. @param path of the control API, below `/clock` */
export async function advanceClock(
  connection: Connection,
  path: 'advance' | 'next' | 'run-until-idle',
  body?: { readonly by: number },
): Promise<Advanced> {
  const before = new Set((await endedAttempts(connection)).map(keyOf));
  const clock = await connection.post<ClockView>(`/clock/${path}`, body);
  const ended = (await endedAttempts(connection)).filter((one) => !before.has(keyOf(one)));
  return { clock, ended: ended.sort((one, other) => endOf(one) - endOf(other)) };
}

const endedAttempts = async (connection: Connection): Promise<Ended[]> =>
  (await connection.get<WebhookEventSummary[]>('/events', ALL)).flatMap((event) =>
    event.attempts
      .filter(({ response }) => response !== undefined)
      .map((attempt) => ({ event, attempt })),
  );

const keyOf = ({ event: { _id }, attempt: { kind, number, startedAt } }: Ended): string =>
  `${_id} ${kind} ${String(number)} ${String(startedAt)}`;
const endOf = ({ attempt: { endedAt, startedAt } }: Ended): number => endedAt ?? startedAt;

/** How many of these attempts were acknowledged. */
export const acknowledgedOf = (ended: readonly Ended[]): number =>
  ended.filter(({ attempt: { result } }) => result?.next === 'acknowledged').length;

/**
 * Advances a manual clock step by step, no further than until there is a result.
 * @throws CliError 1 when nothing is left that could bring it
 */
export async function advanceUntil<T>(
  connection: Connection,
  read: () => Promise<T | undefined>,
): Promise<T> {
  for (;;) {
    // What is due now, and the responses to it, before time passes.
    await connection.post('/clock/advance', { by: 0 });
    const { nextDueAt, inFlight } = await connection.get<ClockView>('/clock');
    const found = await read();
    if (found !== undefined) return found;
    if (nextDueAt === null && inFlight === 0)
      throw new CliError(
        EXIT.attention,
        "Nothing more is due on the simulator's manual clock, but not every event got a response.",
        'To see what happened to them: npx call-webhooks events list',
      );
    await connection.post('/clock/next');
  }
}
