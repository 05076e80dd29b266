import type { Directory } from '../activity/directory.ts';
import type { TurnableClock } from '../clock/clock.ts';
import type { Journal } from '../journal.ts';
import type { EventName } from '../rules/rule.ts';
import type { Draws } from '../seed/draws.ts';
import { SimulatorError } from '../simulator-error.ts';
import type { Call, CallInput, PlacedCallInput } from './call.ts';
import { PEOPLE, SERVICE_NUMBER } from './people.ts';

/** How long after its end a call is logged when its recording comes first, and how long the recording takes; ms. */
const LOGGED_AFTER_MS = 2_000;
const RECORDED_AFTER_MS = 1_000;

interface Parts {
  readonly clock: TurnableClock;
  readonly draws: Draws;
  readonly journal: Journal;
  readonly directory: Directory;
  /** Probability, 0 to 1. */
  readonly recordingFirst: number;
  announce(eventName: EventName, call: Call): void;
}

/** The calls of the simulated dialer. */
export class Calls {
  readonly #parts: Parts;
  readonly #calls = new Map<string, Call>();
  #made = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** All calls, the oldest first. */
  list(): Call[] {
    return [...this.#calls.values()];
  }

  /** @throws SimulatorError `not-found` */
  get(callId: string): Call {
    const call = this.#calls.get(callId);
    if (!call) throw new SimulatorError('not-found', 'There is no call with this id.');
    return call;
  }

  /**
   * Places a call that goes its whole way: `call:started` now, and after `durationSeconds` of the
   * simulator's clock `call:completed` and the recording, in either order.
   * @throws SimulatorError `not-found` for an unknown user, `invalid-input` for an odd duration
   */
  place(input: PlacedCallInput = {}): Call {
    const { durationSeconds = 20 } = input;
    if (!(durationSeconds >= 0 && durationSeconds <= 86_400))
      throw new SimulatorError('invalid-input', 'A call takes from 0 to 86400 seconds.');
    return this.#begin(input, durationSeconds * 1_000);
  }

  /** Starts a call that lasts until `end`. @throws SimulatorError `not-found` for an unknown user */
  start(input: CallInput = {}): Call {
    return this.#begin(input, undefined);
  }

  /**
   * Ends a call, now. It is logged, and its recording announced, within two seconds of the clock:
   * the recording first or last, as the seed has it.
   * @throws SimulatorError `not-found`, `conflict` when it has ended already
   */
  end(callId: string): Call {
    const { clock, draws, recordingFirst } = this.#parts;
    const call = this.get(callId);
    if (call.state === 'ended') throw new SimulatorError('conflict', 'The call has ended already.');
    this.#put({ ...call, state: 'ended', endedAt: clock.now() });
    if (!call.recorded || !draws.chance(recordingFirst, 'recording-first', callId))
      this.#log(callId);
    this.#planRest(this.get(callId));
    return this.get(callId);
  }

  /**
   * Makes the recording of an ended call available, and announces it.
   * @throws SimulatorError `not-found`, `conflict` when the call is not over yet, or has one already
   */
  publishRecording(callId: string): Call {
    const call = this.get(callId);
    if (call.endedAt === undefined || call.recording)
      throw new SimulatorError('conflict', 'Only an ended call without a recording can get one.');
    const durationSeconds = Math.max(1, Math.round((call.endedAt - call.dialedAt) / 1_000));
    const availableAt = this.#parts.clock.now();
    const recording = { startedAt: call.dialedAt, durationSeconds, availableAt };
    const recorded = this.#put({ ...call, recording });
    this.#parts.announce('call:recording-available', recorded);
    return recorded;
  }

  /** @internal */
  get made(): number {
    return this.#made;
  }

  /** @internal */
  restore(calls: readonly Call[], made: number): void {
    this.#calls.clear();
    for (const call of calls) this.#calls.set(call._id, call);
    this.#made = made;
  }

  /** @internal Goes on with the calls that a snapshot holds. */
  takeUp(): void {
    for (const call of this.list()) {
      this.#planEnd(call);
      this.#planRest(call);
    }
  }

  #begin(input: CallInput, plannedMs: number | undefined): Call {
    const { clock, draws, directory } = this.#parts;
    const number = this.#made++;
    const person = PEOPLE[draws.whole(0, PEOPLE.length - 1, 'person', number)] ?? PEOPLE[0];
    const { calledEmail = person.email, calledName = person.name } = input;
    const now = clock.now();
    const call = this.#put({
      _id: draws.id('call', number),
      state: 'ongoing',
      placedBy: directory.user(input.placedBy)._id,
      fromPhoneNumber: input.fromPhoneNumber ?? SERVICE_NUMBER,
      calledNumber: input.calledNumber ?? person.number,
      ...(calledEmail !== null && { calledEmail }),
      ...(calledName !== null && { calledName }),
      createdAt: now,
      dialedAt: now,
      recorded: input.recorded ?? true,
      ...(plannedMs !== undefined && { plannedMs }),
    });
    this.#parts.announce('call:started', call);
    this.#planEnd(call);
    return call;
  }

  #planEnd({ _id, state, dialedAt, plannedMs }: Call): void {
    if (state === 'ended' || plannedMs === undefined) return;
    this.#parts.clock.at(dialedAt + plannedMs, () => {
      if (this.get(_id).state === 'ongoing') this.end(_id);
    });
  }

  /** What is still to come of an ended call: its log entry, where that was put off, and its recording. */
  #planRest({ _id, endedAt, loggedAt, recorded, recording }: Call): void {
    if (endedAt === undefined) return;
    const { clock } = this.#parts;
    if (loggedAt === undefined) clock.at(endedAt + LOGGED_AFTER_MS, () => this.#log(_id));
    if (recorded && !recording) clock.at(endedAt + RECORDED_AFTER_MS, () => this.#record(_id));
  }

  #log(callId: string): void {
    const logged = this.#put({ ...this.get(callId), loggedAt: this.#parts.clock.now() });
    this.#parts.announce('call:completed', logged);
  }

  #record(callId: string): void {
    if (!this.get(callId).recording) this.publishRecording(callId);
  }

  #put(call: Call): Call {
    this.#calls.set(call._id, call);
    this.#parts.journal.record('call', call._id);
    return call;
  }
}
