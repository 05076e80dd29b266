import type { Directory } from '../activity/directory.ts';
import type { SimulatorClock } from '../clock/clock.ts';
import type { ChangeEmitter } from '../change-emitter.ts';
import type { EventName } from '../rules/rule.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { SimulatorError } from '../simulator-error.ts';
import type { Call, CallInput, PlacedCallInput } from './call.ts';

/** Invented people to call, with numbers reserved for fiction. */
const PEOPLE = [
  { name: 'Dana Reyes', email: 'dana@customer.example', number: '+12025550101' },
  { name: 'Eli Novak', email: 'eli@customer.example', number: '+12025550102' },
  { name: 'Femi Okoro', email: 'femi@prospect.example', number: '+12025550103' },
  { name: 'Gwen Haas', email: 'gwen@prospect.example', number: '+12025550104' },
  { name: 'Hugo Lindqvist', email: 'hugo@partner.example', number: '+12025550105' },
] as const;

/** The number that calls are placed from. Its fields are a guess. */
const SERVICE_NUMBER = { number: '+12025550199', label: 'Main line' } as const;

/** Milliseconds from the end of a call to its recording, and to its log entry when that comes second. */
const RECORDED_AFTER_MS = 1_000;
const LOGGED_AFTER_MS = 2_000;

interface Deps {
  readonly clock: SimulatorClock;
  readonly random: SeededRandom;
  readonly changes: ChangeEmitter;
  readonly directory: Directory;
  /** Probability, 0 to 1. */
  readonly recordingFirst: number;
  readonly dispatch: (eventName: EventName, call: Call) => void;
}

/** The calls of the simulated dialer. */
export class Calls {
  readonly #deps: Deps;
  readonly #calls = new Map<string, Call>();
  #created = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** All calls, the oldest first. */
  list(): Call[] {
    return [...this.#calls.values()];
  }

  find(callId: string): Call | undefined {
    return this.#calls.get(callId);
  }

  /** @throws SimulatorError `not-found` */
  get(callId: string): Call {
    const call = this.#calls.get(callId);
    if (!call) throw new SimulatorError('not-found', 'No call has this id.');
    return call;
  }

  /**
   * Places a complete call: `call:started` now, then `call:completed` and the recording, in either
   * order, after `durationSeconds` of the simulator's clock.
   * @throws SimulatorError `not-found` for an unknown user, `invalid-input` for an invalid duration
   */
  place(input: PlacedCallInput = {}): Call {
    const { durationSeconds = 20 } = input;
    if (!(durationSeconds >= 0 && durationSeconds <= 86_400))
      throw new SimulatorError(
        'invalid-input',
        'durationSeconds must be a number from 0 to 86400.',
      );
    return this.#create(input, durationSeconds * 1_000);
  }

  /** Starts a call that goes on until `end`. @throws SimulatorError `not-found` for an unknown user */
  start(input: CallInput = {}): Call {
    return this.#create(input, undefined);
  }

  /**
   * Ends a call now. `call:completed` and the recording follow within two seconds of the simulator's
   * clock, in either order.
   * @throws SimulatorError `not-found`, or `conflict` when the call has already ended
   */
  end(callId: string): Call {
    const { clock, random, recordingFirst } = this.#deps;
    const call = this.get(callId);
    if (call.state === 'ended') throw new SimulatorError('conflict', 'The call has already ended.');
    this.#put({ ...call, state: 'ended', endedAt: clock.now() });
    if (!call.recorded || !random.chance(recordingFirst, 'recording-first', callId))
      this.#log(callId);
    this.#scheduleRest(this.get(callId));
    return this.get(callId);
  }

  /**
   * Makes the recording of an ended call available and sends `call:recording-available`.
   * @throws SimulatorError `not-found`, or `conflict` when the call is ongoing or has a recording
   */
  publishRecording(callId: string): Call {
    const call = this.get(callId);
    if (call.endedAt === undefined || call.recording)
      throw new SimulatorError(
        'conflict',
        'The call is still ongoing, or already has a recording.',
      );
    const durationSeconds = Math.max(1, Math.round((call.endedAt - call.dialedAt) / 1_000));
    const availableAt = this.#deps.clock.now();
    const recording = { startedAt: call.dialedAt, durationSeconds, availableAt };
    const recorded = this.#put({ ...call, recording });
    this.#deps.dispatch('call:recording-available', recorded);
    return recorded;
  }

  /** @internal */
  get created(): number {
    return this.#created;
  }

  /** @internal */
  restore(calls: readonly Call[], created: number): void {
    this.#calls.clear();
    for (const call of calls) this.#calls.set(call._id, call);
    this.#created = created;
  }

  /** @internal Continues the calls of a restored snapshot. */
  resume(): void {
    for (const call of this.list()) {
      this.#scheduleEnd(call);
      this.#scheduleRest(call);
    }
  }

  #create(input: CallInput, plannedMs: number | undefined): Call {
    const { clock, random, directory } = this.#deps;
    const number = this.#created++;
    const person = PEOPLE[random.whole(0, PEOPLE.length - 1, 'person', number)] ?? PEOPLE[0];
    const { calledEmail = person.email, calledName = person.name } = input;
    const now = clock.now();
    const call = this.#put({
      _id: random.id('call', number),
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
    this.#deps.dispatch('call:started', call);
    this.#scheduleEnd(call);
    return call;
  }

  #scheduleEnd({ _id, state, dialedAt, plannedMs }: Call): void {
    if (state === 'ended' || plannedMs === undefined) return;
    this.#deps.clock.at(dialedAt + plannedMs, () => {
      if (this.get(_id).state === 'ongoing') this.end(_id);
    });
  }

  /** Schedules what an ended call still lacks: its log entry and its recording. */
  #scheduleRest({ _id, endedAt, loggedAt, recorded, recording }: Call): void {
    if (endedAt === undefined) return;
    const { clock } = this.#deps;
    if (loggedAt === undefined) clock.at(endedAt + LOGGED_AFTER_MS, () => this.#log(_id));
    if (recorded && !recording) clock.at(endedAt + RECORDED_AFTER_MS, () => this.#record(_id));
  }

  #log(callId: string): void {
    const logged = this.#put({ ...this.get(callId), loggedAt: this.#deps.clock.now() });
    this.#deps.dispatch('call:completed', logged);
  }

  #record(callId: string): void {
    if (!this.get(callId).recording) this.publishRecording(callId);
  }

  #put(call: Call): Call {
    this.#calls.set(call._id, call);
    this.#deps.changes.emit('call', call._id);
    return call;
  }
}
