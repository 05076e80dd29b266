import * as z from 'zod/mini';
import type { Directory } from '../activity/directory.ts';
import type { SimulatorClock } from '../clock/clock.ts';
import type { EventDispatcher } from '../events/dispatcher.ts';
import { anyObject, checked, flag, numberFrom, SimulatorError, text } from '../errors.ts';
import type { Settings } from '../options.ts';
import { Records, type ChangeEmitter } from '../records.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { Call } from './call.ts';
import { FIELD_NAMES } from './field-names.ts';

const CALL = z.strictObject({
  placedBy: z.optional(text()),
  fromPhoneNumber: z.optional(anyObject<Record<string, unknown>>()),
  calledNumber: z.optional(text()),
  calledEmail: z.nullish(text()),
  calledName: z.nullish(text()),
  recorded: z.optional(flag()),
  fieldNames: z.optional(FIELD_NAMES),
});
const PLACED_CALL = z.extend(CALL, { durationSeconds: z.optional(numberFrom(0, 86_400)) });

/**
 * A new call. Every field has a default: `placedBy` is the `_id` of the first user of the workspace,
 * `recorded` is `true`, and an invented person is called. `calledEmail` and `calledName` may be `null`
 * if they are not known. `fieldNames` are the names of the fields of its events, where they differ from
 * those of the simulator.
 */
export type CallInput = z.input<typeof CALL>;

/**
 * A new call that ends by itself after `durationSeconds` of the simulator's clock: 0 to 86,400, by
 * default 20. The number may be a fraction.
 */
export type PlacedCallInput = z.input<typeof PLACED_CALL>;

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

/** What is used of the simulation. */
interface Parts {
  readonly changes: ChangeEmitter;
  readonly clock: SimulatorClock;
  readonly directory: Directory;
  readonly dispatcher: EventDispatcher;
  readonly random: SeededRandom;
  readonly settings: Pick<Settings, 'recordingFirst' | 'keepRecords'>;
}

/** The calls of the simulated dialer. */
export class Calls {
  readonly #simulation: Parts;
  readonly #calls: Records<Call>;

  constructor(simulation: Parts) {
    this.#simulation = simulation;
    this.#calls = new Records('call', simulation.changes, {
      keep: simulation.settings.keepRecords,
      isFinished: ({ loggedAt, recorded, recording }) =>
        loggedAt !== undefined && (!recorded || recording !== undefined),
    });
  }

  /** Returns the calls that are kept, oldest first. */
  list(): Call[] {
    return this.#calls.list();
  }

  /** Returns one call, or `undefined` if there is none with this id. */
  find(callId: string): Call | undefined {
    return this.#calls.find(callId);
  }

  /**
   * Returns one call.
   * @throws SimulatorError `not-found`
   */
  get(callId: string): Call {
    return this.#calls.get(callId);
  }

  /**
   * Places a complete call. `call:started` is sent now. `call:completed` and `call:recording-available`
   * are sent, in either order, after `durationSeconds` of the simulator's clock.
   * @throws SimulatorError `not-found` for an unknown user, or `invalid-input`
   * @example
   * simulator.calls.place({ durationSeconds: 20, calledName: 'Dana Reyes' });
   */
  place(input: PlacedCallInput = {}): Call {
    const { durationSeconds = 20, ...call } = checked(PLACED_CALL, input);
    return this.#create(call, durationSeconds * 1_000);
  }

  /**
   * Starts a call that goes on until you call `end`. `call:started` is sent now.
   * @throws SimulatorError `not-found` for an unknown user, or `invalid-input`
   */
  start(input: CallInput = {}): Call {
    return this.#create(checked(CALL, input));
  }

  /**
   * Ends a call now. `call:completed` and `call:recording-available` follow within two seconds of the
   * simulator's clock, in either order.
   * @throws SimulatorError `not-found`, or `conflict` if the call has already ended
   */
  end(callId: string): Call {
    const { clock, random, settings } = this.#simulation;
    const call = this.get(callId);
    if (call.state === 'ended') throw new SimulatorError('conflict', 'The call has already ended.');
    const endedAt = clock.now();
    this.#calls.put({ ...call, state: 'ended', endedAt });
    if (call.recorded) clock.at(endedAt + RECORDED_AFTER_MS, () => this.#record(callId));
    if (call.recorded && random.chance(settings.recordingFirst, 'recording-first', callId))
      clock.at(endedAt + LOGGED_AFTER_MS, () => this.#log(callId));
    else this.#log(callId);
    return this.get(callId);
  }

  /**
   * Makes the recording of an ended call available and sends `call:recording-available`.
   * @throws SimulatorError `not-found`, or `conflict` if the call is ongoing or already has a recording
   */
  publishRecording(callId: string): Call {
    const { clock, dispatcher } = this.#simulation;
    const call = this.get(callId);
    if (call.endedAt === undefined || call.recording)
      throw new SimulatorError(
        'conflict',
        'The call is still ongoing, or already has a recording.',
      );
    const durationSeconds = Math.max(1, Math.round((call.endedAt - call.dialedAt) / 1_000));
    const recording = { startedAt: call.dialedAt, durationSeconds, availableAt: clock.now() };
    const recorded = this.#calls.put({ ...call, recording });
    dispatcher.dispatch('call:recording-available', recorded);
    return recorded;
  }

  /** @internal */
  clear(): void {
    this.#calls.clear();
  }

  #create(input: CallInput, plannedMs?: number): Call {
    const { clock, random, directory, dispatcher } = this.#simulation;
    const number = this.#calls.created;
    const person = PEOPLE[random.whole(0, PEOPLE.length - 1, 'person', number)] ?? PEOPLE[0];
    const { calledEmail = person.email, calledName = person.name } = input;
    const now = clock.now();
    const call = this.#calls.put({
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
      ...(input.fieldNames !== undefined && { fieldNames: input.fieldNames }),
    });
    dispatcher.dispatch('call:started', call);
    if (plannedMs !== undefined)
      clock.at(now + plannedMs, () => {
        if (this.find(call._id)?.state === 'ongoing') this.end(call._id);
      });
    return call;
  }

  #log(callId: string): void {
    const { clock, dispatcher } = this.#simulation;
    const logged = this.#calls.put({ ...this.get(callId), loggedAt: clock.now() });
    dispatcher.dispatch('call:completed', logged);
  }

  #record(callId: string): void {
    if (!this.get(callId).recording) this.publishRecording(callId);
  }
}
