import type { Outcome } from '@call-webhooks/core';
import { Agenda, randomOf, type Random } from './agenda.ts';
import { LoggedProcess } from './logged-process.ts';
import { ModelStore } from './model-store.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** A Monday. */
export const MONDAY = Date.UTC(2026, 10, 2);

export const STARTED = 'call:started';
export const COMPLETED = 'call:completed';
export const RECORDING = 'call:recording-available';
export type EventName = typeof STARTED | typeof COMPLETED | typeof RECORDING;
const EVENTS: readonly EventName[] = [STARTED, COMPLETED, RECORDING];

/** Whose calls there are, and how many. Times are milliseconds since the epoch. */
export interface Caller {
  /** The tenant; empty without tenants. */
  readonly tenant?: string;
  /** Calls on a working day. */
  readonly perDay?: number;
  /** Calls a millisecond, if they don't follow office hours. */
  readonly rate?: (time: number) => number;
  /** How long a call lasts; milliseconds. */
  readonly duration?: (random: Random, time: number) => number;
  /** The probability that a call has a recording, and that it is logged. */
  readonly recorded?: (time: number) => number;
  readonly logged?: number;
}

export interface Rule {
  readonly tenant: string;
  readonly event: EventName;
  isActive: boolean;
}

export interface Run {
  readonly event: EventName;
  readonly tenant: string;
  readonly callId: string;
  readonly time: number;
  readonly random: Random;
}

/** One history of the service and its receivers. Times are milliseconds since the epoch. */
export interface History {
  readonly seed?: number;
  readonly days?: number;
  readonly callers?: readonly Caller[];
  /** The events that have a rule. */
  readonly events?: readonly EventName[];
  /** How often the service sends an event. */
  readonly maxAttempts?: number;
  /** How far the clock of each process is ahead, and whether it is up. */
  readonly processes?: readonly { ahead?: number; isUp?: (time: number) => boolean }[];
  readonly isStoreDown?: (time: number) => boolean;
  /** Whether the handler succeeds, and how long it takes; milliseconds. */
  readonly handler?: (run: Run) => { isOk: boolean; ms: number };
  /** How often an event runs before it is a dead letter; without it, there are none. */
  readonly runs?: number;
  /** Whether the secret that the service signs with is configured. */
  readonly isVerified?: (rule: Rule, time: number) => boolean;
  /** Whether a proxy answers 404. */
  readonly isGone?: (rule: Rule, time: number) => boolean;
  /** How often a delivery comes twice, and how often its response is lost. */
  readonly duplicates?: number;
  readonly lostResponses?: number;
  /** Deliveries are queued, and a worker runs them unless this says that it does not. */
  readonly isWorkerDown?: (time: number) => boolean;
  /** How long a job takes; milliseconds. */
  readonly jobMs?: number;
  /** How often a process is killed before it has logged an outcome. */
  readonly kills?: number;
  /** Something else that happens: some time after the start. */
  readonly at?: readonly (readonly [number, (model: ServiceModel) => void])[];
}

/**
 * The service, its calls and rules, and receivers that share a store. Time passes at once. The log is a real one,
 * and so are the writers that fill it; what a receiver would respond is modelled.
 */
export class ServiceModel {
  readonly history: History;
  readonly agenda = new Agenda(MONDAY);
  readonly store: ModelStore;
  readonly rules = new Map<string, Rule>();
  readonly pauses: { rule: Rule; at: number; why: '404' | 'last attempt' }[] = [];
  readonly random: Random;
  readonly processes: readonly LoggedProcess[];
  /** When deliveries were not acknowledged. */
  readonly failures: number[] = [];
  deliveries = 0;
  calls = 0;

  constructor(history: History) {
    this.history = history;
    this.random = randomOf(history.seed ?? 1);
    const isDown = () => history.isStoreDown?.(this.agenda.now) ?? false;
    this.store = new ModelStore(this.agenda, isDown);
    this.processes = (history.processes ?? [{}, {}]).map(
      ({ ahead = 0, isUp }) => new LoggedProcess(this.agenda, this.store, ahead, isUp),
    );
    for (const caller of history.callers ?? [{ perDay: 40 }]) this.#plan(caller);
    for (const [after, happens] of history.at ?? [])
      this.agenda.at(MONDAY + after, () => happens(this));
  }

  rule(event: EventName, tenant = ''): Rule {
    const id = `${tenant} ${event}`;
    const rule = this.rules.get(id) ?? { tenant, event, isActive: true };
    this.rules.set(id, rule);
    return rule;
  }

  /** Reports what a process responded to a request that the service did not send. */
  forge(): void {
    this.#report({ source: 'webhook', outcome: 'signature-mismatch', status: 401, durationMs: 1 });
  }

  #plan(caller: Caller): void {
    const { history, random, agenda } = this;
    const end = MONDAY + (history.days ?? 13) * DAY;
    const rate = caller.rate ?? officeHours(caller.perDay ?? 40);
    let highest = 0;
    for (let time = MONDAY; time < MONDAY + 7 * DAY; time += 10 * MINUTE)
      highest = Math.max(highest, rate(time));
    const next = (): void => {
      let time = agenda.now;
      do time -= Math.log(1 - random()) / highest;
      while (time < end && random() >= rate(time) / highest);
      if (time >= end) return;
      agenda.at(time, () => {
        this.#call(caller);
        next();
      });
    };
    next();
  }

  #call({ tenant = '', duration = usualDuration, recorded, logged = 1 }: Caller): void {
    const { agenda, random, history } = this;
    const callId = `c${String((this.calls += 1))}`;
    const start = agenda.now;
    const end = start + duration(random, start);
    const emit = (event: EventName, at: number) => {
      if (!(history.events ?? EVENTS).includes(event)) return;
      agenda.at(at, () => this.#attempt(this.rule(event, tenant), callId, 1));
    };
    emit(STARTED, start + 500);
    const loggedAfter = random() * 5_000;
    if (random() < logged) emit(COMPLETED, end + loggedAfter);
    if (random() >= (recorded?.(start) ?? 1)) return;
    // Half of them come before the call is logged.
    emit(RECORDING, end + (random() < 0.5 ? random() * 4_000 : MINUTE + random() * 4 * MINUTE));
  }

  #attempt(rule: Rule, callId: string, attempt: number): void {
    if (!rule.isActive) return;
    const { agenda, history, random } = this;
    this.deliveries += 1;
    const up = this.processes.filter((process) => process.isUp());
    const process = up[Math.floor(random() * up.length)];
    const isGone = history.isGone?.(rule, agenda.now) ?? false;
    const { status, ms } = isGone
      ? { status: 404, ms: 5 }
      : process
        ? this.#receive(process, rule, callId)
        : { status: 0, ms: 5 };
    agenda.at(agenda.now + ms, () => {
      if (status >= 200 && status < 300 && random() >= (history.lostResponses ?? 0)) {
        if (process && random() < (history.duplicates ?? 0))
          agenda.at(agenda.now + random() * 30_000, () => this.#receive(process, rule, callId));
        return;
      }
      this.failures.push(agenda.now);
      const isLast = attempt >= (history.maxAttempts ?? 6);
      const interval = 5 * MINUTE * (0.9 + 0.2 * random());
      if (status === 404) this.#pause(rule, '404');
      else if (isLast) this.#pause(rule, 'last attempt');
      else agenda.at(agenda.now + interval, () => this.#attempt(rule, callId, attempt + 1));
    });
  }

  #pause(rule: Rule, why: '404' | 'last attempt'): void {
    if (!rule.isActive) return;
    rule.isActive = false;
    this.pauses.push({ rule, at: this.agenda.now, why });
  }

  /** What a receiver responds, and after how many milliseconds. */
  #receive(process: LoggedProcess, rule: Rule, callId: string): { status: number; ms: number } {
    const { agenda, history, random, store } = this;
    const { tenant, event } = rule;
    const request = { source: 'webhook', ...(tenant !== '' && { tenant }) } as const;
    const respond = (ended: Omit<Outcome, 'source' | 'durationMs'>, ms = 1, responseMs = ms) => {
      const outcome = { ...request, ...ended, durationMs: ms };
      agenda.at(agenda.now + ms, () => this.#report(outcome, process));
      return { status: ended.status, ms: responseMs };
    };
    if (Math.abs(process.ahead) > 5 * MINUTE)
      return respond({ outcome: 'timestamp-out-of-tolerance', status: 401 });
    if (history.isVerified?.(rule, agenda.now) === false)
      return respond({ outcome: 'signature-mismatch', status: 401 });
    const key = `${tenant}/${callId}:${event}`;
    const secretId = `secret-${String(EVENTS.indexOf(event) + 1)}`;
    const known = { webhookId: 'w', eventName: event, key, secretId };
    if (history.isStoreDown?.(agenda.now))
      return respond({ ...known, outcome: 'store-unavailable', status: 503 }, 1_000);
    const storeMs = 2 + random() * 3;
    const found = store.claim(key);
    if (found === 'handled')
      return respond({ ...known, storeMs, outcome: 'duplicate', status: 200 });
    if (found === 'dead-lettered')
      return respond({ ...known, storeMs, outcome: 'in-dead-letters', status: 200 });
    if (found === 'running')
      return respond({ ...known, storeMs, outcome: 'in-progress', status: 503 });
    if (history.isWorkerDown) {
      store.settle(key, 'handled');
      this.#work(process, event);
      return respond({ ...known, storeMs, outcome: 'queued', status: 202 }, storeMs);
    }
    const run = { event, tenant, callId, time: agenda.now, random };
    const { isOk, ms: handlerMs } = history.handler?.(run) ?? { isOk: true, ms: 100 };
    const attempt = store.attempts(key);
    const left = history.runs === undefined ? undefined : Math.max(0, history.runs - attempt);
    const state = isOk ? 'handled' : left === 0 ? 'dead-lettered' : 'failed';
    const ended = {
      ...{ ...known, attempt, storeMs, handlerMs },
      ...(!isOk && left !== undefined && { attemptsLeft: left }),
      ...(state === 'failed'
        ? ({ outcome: 'handler-failed', status: 500 } as const)
        : ({ outcome: state, status: 200 } as const)),
    };
    const ms = handlerMs + storeMs;
    agenda.at(agenda.now + ms, () => store.settle(key, state));
    if (ms <= ACK_WITHIN) return respond(ended, ms);
    respond({ ...ended, late: true }, ms);
    return respond({ ...known, attempt, storeMs, outcome: 'deadline', status: 503 }, ACK_WITHIN);
  }

  /** A worker runs a job as soon as it is up. */
  #work(process: LoggedProcess, eventName: EventName): void {
    const { agenda, history } = this;
    const run = (): void => {
      if (history.isWorkerDown?.(agenda.now)) {
        agenda.at(agenda.now + 30_000, run);
        return;
      }
      const ms = history.jobMs ?? 200;
      const ended = { source: 'queue', outcome: 'handled', status: 200, webhookId: 'w' } as const;
      agenda.at(agenda.now + ms, () =>
        this.#report({ ...ended, eventName, queued: true, durationMs: ms, handlerMs: ms }, process),
      );
    };
    agenda.at(agenda.now + 50, run);
  }

  #report(outcome: Outcome, process = this.processes[0]): void {
    process?.add(outcome);
    if (this.random() < (this.history.kills ?? 0)) process?.kill();
  }
}

const ACK_WITHIN = 20_000;

/** 40 % nobody answers; the others last about 3 minutes, up to 2 hours. */
export function usualDuration(random: Random): number {
  if (random() < 0.4) return 10_000 + random() * 25_000;
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.min(2 * HOUR, 3 * MINUTE * Math.exp(0.9 * normal));
}

/** Calls a millisecond: Monday to Friday from 9 to 18 UTC, and half as many at noon. */
export const officeHours =
  (perDay: number) =>
  (time: number): number => {
    const date = new Date(time);
    const hour = date.getUTCHours();
    if ([0, 6].includes(date.getUTCDay()) || hour < 9 || hour >= 18) return 0;
    return (perDay / (8.5 * HOUR)) * (hour === 12 ? 0.5 : 1);
  };
