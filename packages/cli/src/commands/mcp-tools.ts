import { eventKey, OUTCOMES } from '@call-webhooks/core';
import { DELIVERY_SOURCES, redactId, tenantKey } from '@call-webhooks/core/internal';
import type { ListedDeadLetter, OutcomeRow } from '@call-webhooks/core/stores';
import { causeOf } from '@call-webhooks/recovery';
import type { Call, ClockView, WebhookEventSummary } from '@call-webhooks/simulator';
import * as z from 'zod';
import type { App } from '../app.ts';
import { badInput } from '../errors.ts';
import { givenSecrets, requiredSecrets } from '../input/secrets.ts';
import { targetUrl } from '../input/target.ts';
import { milliseconds, time } from '../input/time.ts';
import { serviceClient } from '../service/client.ts';
import { acknowledgedOf, advanceClock } from '../simulator/clock.ts';
import { simulatorOf } from '../simulator/connection.ts';
import type { OpenedStore } from '../store/engine.ts';
import { findLetter, lettersOf, shownBody } from '../store/letters.ts';
import { withStore } from '../store/open-store.ts';
import { statusOf } from '../store/status.ts';
import { checkTenant, otherTenants, TENANT_FLAG, type TenantWords } from '../store/tenants.ts';
import { shellWord } from '../terminal/shell.ts';
import {
  basicOptions,
  grade,
  isWantedByDefault,
  receiverWith,
  serverErrorOf,
} from '../grader/grade.ts';
import { diagnose } from './doctor.ts';
import type { DoctorOptions } from './doctor-options.ts';
import { explanations } from './explain.ts';
import {
  deadLettersView,
  eventView,
  letterView,
  NO_LOG,
  rowsOf,
  rowView,
  shownId,
  reasonView,
  shownName,
  statusView,
} from './mcp-views.ts';
import { lookUp, REMEMBER_MS, windowOf } from './reconcile.ts';
import { checkSignature } from './verify.ts';

/** One tool. What it returns becomes JSON, what it throws an error with a fix. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** Whether it changes something. */
  readonly writes: boolean;
  readonly run: (input: never) => Promise<object>;
}

const tool = <Shape extends z.ZodRawShape>(
  name: string,
  description: string,
  shape: Shape,
  run: (input: z.output<z.ZodObject<Shape>>) => Promise<object>,
): Tool => ({ name, description, input: z.strictObject(shape), writes: false, run });

const writing = (given: Tool): Tool => ({ ...given, writes: true });

const LIMIT = z.int().min(1).max(50).default(20);
const TENANT = z.string().max(128).optional();
const CAUSE = z.string().regex(/^[\da-f]{4,12}$/);
const TIME = z
  .string()
  .max(40)
  .describe('2h (ago), or 2026-01-31T12:00Z; a time without a zone is in UTC');

/** Whoever sends requests may have chosen the name of a tenant, as far as an assistant knows. */
const FIELD: TenantWords = {
  ...TENANT_FLAG,
  shown: shownId,
  fix: 'Pass the name of one as "tenant".',
};

/** All tools. Their answers have no names, numbers or addresses of people. */
export function toolsOf(app: App, options: DoctorOptions): Tool[] {
  const inStore = <T>(work: (opened: OpenedStore) => Promise<T>) =>
    withStore(app, options, work, true);
  const simulator = () => simulatorOf(app, options);
  const receiverUrl = (to: string | undefined) => {
    const given = to ?? options.to?.[0];
    if (given === undefined)
      throw badInput('No receiver is given.', 'Pass its URL as "to", or start mcp with --to URL.');
    return targetUrl(given, options.allowExternal);
  };

  return [
    tool(
      'doctor',
      'Checks the whole setup: secrets, store, receiver and REST API. Use it if the setup does not work.',
      {
        to: z
          .string()
          .max(500)
          .optional()
          .describe('the URL of the receiver; 3000/hook means http://127.0.0.1:3000/hook'),
      },
      async ({ to }) => ({
        checks: await diagnose(app, { ...options, ...(to !== undefined && { to: [to] }) }),
      }),
    ),
    tool(
      'status',
      'Returns what needs attention now: events that keep failing, are rejected or have stopped arriving, each with its fix. Start with this tool.',
      {
        tenant: TENANT.describe('returns only the status of this tenant'),
        expect: z
          .array(z.string().max(200))
          .max(50)
          .optional()
          .describe(
            'the names of the events that should arrive; by default, every event that has arrived in the last 30 days',
          ),
      },
      (query) => inStore(async (opened) => statusView(await statusOf(opened, query))),
    ),
    tool(
      'explain',
      'Explains an outcome, a status or a network error of a receiver, with its fix.',
      { about: z.string().max(60).describe('signature-mismatch, 404, ECONNREFUSED') },
      ({ about }) => Promise.resolve({ explanations: explanations(about) }),
    ),
    tool(
      'verify_signature',
      'Verifies the signature of a captured request. If it does not match, explains what changed the body.',
      {
        headers: z
          .record(z.string().max(200), z.string().max(4_000))
          .refine((headers) => Object.keys(headers).length <= 200, 'more than 200 headers'),
        bodyBase64: z.base64().max(14_000_000),
        anyAge: z.boolean().default(false).describe('whether to accept old timestamps'),
      },
      async ({ headers, bodyBase64, anyAge }) => {
        const { headerPrefix } = options;
        const secret = await requiredSecrets(app.io, options);
        const settings = { secret, headerPrefix, ...(anyAge && { toleranceSeconds: 1e10 }) };
        const body = Buffer.from(bodyBase64, 'base64');
        const result = await checkSignature({ headers, body }, settings);
        if (result.verified) return { verified: true, signedAt: result.timestamp };
        return { ...result, fix: OUTCOMES[result.code as keyof typeof OUTCOMES].fix };
      },
    ),
    tool(
      'dead_letters',
      'Returns the dead letters (events that failed for good), grouped by cause. With a cause, returns its dead letters, newest first.',
      {
        cause: CAUSE.optional().describe('the id of a cause'),
        eventName: z.string().max(200).optional(),
        reason: z.enum(['handler-failed', 'invalid-payload']).optional(),
        since: TIME.optional(),
        tenant: TENANT,
        limit: LIMIT,
      },
      ({ cause, eventName, reason, since, tenant, limit }) => {
        const given = { cause, event: eventName, reason, since: since && time(since), tenant };
        const wanted = Object.fromEntries(
          Object.entries(given).filter(([, value]) => value !== undefined),
        );
        return inStore((opened) => deadLettersView(opened, wanted, limit));
      },
    ),
    tool(
      'dead_letter',
      'Returns one dead letter: its history, and its body without personal data.',
      { id: z.string().min(4).max(200) },
      ({ id }) =>
        inStore(async ({ deadLetters }) => {
          const letter = await findLetter(deadLetters, id);
          const history = letter.history.map(({ at, source, attempt, error }) => ({
            at,
            source,
            attempt,
            untrusted: { error: causeOf({ ...letter, error }) },
          }));
          return { ...letterView(letter), history, untrustedBody: shownBody(letter) };
        }),
    ),
    tool(
      'call',
      'Returns what happened to a call: its events in the store, its deliveries and its dead letters.',
      { callId: z.string().min(1).max(200), tenant: TENANT },
      ({ callId, tenant }) =>
        inStore(async ({ store, deadLetters }) => {
          const ofCall = (row: OutcomeRow) =>
            row.callId === redactId(callId) && (tenant === undefined || row.tenant === tenant);
          const found = store.log && (await rowsOf(store.log, ofCall, { limit: 50 }));
          const rows = found?.rows;
          const letters: ListedDeadLetter[] = [];
          for await (const letter of lettersOf(deadLetters, { tenant }))
            if (letter.callId === callId) letters.push(letter);
          // Two tenants may have calls with the same id.
          const [owner, another] = new Set([...(rows ?? []), ...letters].map((one) => one.tenant));
          const of = tenant ?? (another === undefined ? owner : undefined);
          await checkTenant({ store, deadLetters }, of, FIELD);
          const names = ['call:started', 'call:completed'];
          const keys = names.map((eventName) =>
            tenantKey(of, eventKey({ eventName, callId }) ?? ''),
          );
          const states = await store.peek?.(keys);
          return {
            ...(of !== undefined && { tenant: shownId(of) }),
            events: states
              ? names.map((eventName, at) => ({ eventName, state: states[at] ?? 'unknown' }))
              : 'This store cannot look up the state of an event.',
            deadLetters: letters.map(letterView),
            deliveries: rows?.map(rowView) ?? NO_LOG,
            deliveriesLookedBackTo: found?.lookedBackTo,
          };
        }),
    ),
    tool(
      'deliveries',
      'Returns the deliveries of all receiver processes, newest first. "lookedBackTo" is the time of the oldest delivery that was searched.',
      {
        since: TIME.optional(),
        until: TIME.optional(),
        failed: z.boolean().default(false).describe('whether to return only failures'),
        outcome: z.enum(Object.keys(OUTCOMES) as [string, ...string[]]).optional(),
        source: z.enum(DELIVERY_SOURCES).optional(),
        tenant: TENANT,
        before: z.string().max(200).optional().describe('the "before" value of the previous page'),
        limit: LIMIT,
      },
      ({ outcome, source, tenant, since, until, failed, before, limit }) =>
        inStore(async ({ store: { log } }) => {
          if (!log) throw badInput(NO_LOG, "Read the receiver's log lines instead.");
          const isWanted = (row: OutcomeRow) =>
            (outcome === undefined || row.outcome === outcome) &&
            (source === undefined || row.source === source) &&
            (tenant === undefined || row.tenant === tenant);
          const page = await rowsOf(log, isWanted, {
            ...{ limit, before, only: failed ? 'failures' : undefined },
            ...(since !== undefined && { since: time(since).getTime() }),
            ...(until !== undefined && { until: time(until).getTime() }),
          });
          return { ...page, rows: page.rows.map(rowView) };
        }),
    ),
    tool(
      'reconcile_dry_run',
      'Compares the calls in the service with the store, and lists the events that never arrived, with the reason as far as the outcome log tells.',
      {
        since: TIME,
        until: TIME.optional(),
        tenant: TENANT.describe('the tenant that the calls belong to'),
      },
      async ({ since, until, tenant }) => {
        const given = { since: time(since), ...(until !== undefined && { until: time(until) }) };
        const window = windowOf({ ...given, rememberFor: REMEMBER_MS }, Date.now());
        const missed: object[] = [];
        const doubts: string[] = [];
        const client = await serviceClient(app, options);
        const { seen, known, failed, inDeadLetters, skipped, reasons, ...result } = await lookUp(
          app,
          { ...options, tenant, rememberFor: REMEMBER_MS },
          {
            client,
            ...window,
            signal: app.signal,
            onEvent: ({ callId, event, at, missed: isMissed }) => {
              const eventName = shownName(event.eventName);
              if (isMissed) missed.push({ eventName, callId: shownId(callId), at });
            },
          },
          (doubt) => doubts.push(doubt),
          FIELD,
        );
        const counts = { seen, missed: result.missed, known, failed, inDeadLetters, skipped };
        const doubt = doubts.length > 0 && { doubt: doubts.join(' ') };
        return {
          ...{ ...window, ...counts, ...doubt },
          reasons: reasons?.map((reason) => reasonView(reason, tenant)),
          events: missed.slice(0, 100),
        };
      },
    ),
    tool(
      'check_receiver',
      'Sends forged, stale, replayed and genuine requests to a receiver, and checks the responses. No handler runs.',
      { to: z.string().max(500).optional().describe('its URL') },
      async ({ to }) => {
        const target = basicOptions(app, { ...options, url: receiverUrl(to) });
        const receiver = await receiverWith(target, await givenSecrets(app.io, options));
        const grades = await grade(receiver, isWantedByDefault(receiver));
        const findings = grades.map(({ check: { id, title, why }, result, saw, fix }) => ({
          check: id,
          title,
          result,
          saw,
          ...(result === 'fail' && { why, fix }),
        }));
        return { failure: serverErrorOf(grades), findings };
      },
    ),
    tool(
      'redrive_command',
      'Returns the command with which a person can run dead letters again. This tool does not run it.',
      {
        cause: CAUSE,
        to: z
          .string()
          .max(500)
          .optional()
          .describe('the URL of the receiver; 3000/hook means http://127.0.0.1:3000/hook'),
        tenant: TENANT.describe(
          'the tenant that the dead letters belong to, if the receiver has tenants',
        ),
      },
      ({ cause, to, tenant }) =>
        inStore(async ({ deadLetters }) => {
          const url = receiverUrl(to);
          const letters: ListedDeadLetter[] = [];
          for await (const letter of lettersOf(deadLetters, { cause, tenant }))
            letters.push(letter);
          const refusal = otherTenants(letters, tenant, FIELD);
          if (refusal) throw refusal;
          const owner = tenant === undefined ? '' : ` --tenant ${shellWord(tenant)}`;
          const prefix =
            options.prefix === undefined ? '' : ` --prefix ${shellWord(options.prefix)}`;
          const external = options.allowExternal ? ' --allow-external' : '';
          return {
            letters: letters.length,
            command: `npx call-webhooks dead-letters redrive --cause ${cause}${owner} --to ${shellWord(url)}${prefix}${external}`,
            note: 'A person has to run this command, with CALL_WEBHOOKS_STORE and CALL_WEBHOOK_SECRET set. It runs the handlers again, so make sure that the cause is fixed.',
          };
        }),
    ),
    tool(
      'simulator_events',
      'Returns the events that the running simulator has sent, newest first, with their attempts.',
      { callId: z.string().max(100).optional(), limit: LIMIT },
      async ({ callId, limit }) => {
        const query = { callId, limit };
        const found = await simulator().get<WebhookEventSummary[]>('/events', query);
        return { events: found.reverse().map(eventView) };
      },
    ),
    tool(
      'simulator_clock',
      "Returns the simulator's time, and when the next action is due.",
      {},
      () => simulator().get<ClockView>('/clock'),
    ),
    writing(
      tool('simulator_call', 'Places a one-second call in the simulator.', {}, async () => {
        const { _id } = await simulator().post<Call>('/calls', { durationSeconds: 1 });
        const { mode } = await simulator().get<ClockView>('/clock');
        const note = 'The clock is manual. To continue the call, use simulator_advance with 5s.';
        return { callId: shownId(_id), ...(mode === 'manual' && { note }) };
      }),
    ),
    writing(
      tool(
        'simulator_advance',
        "Advances the simulator's clock, and runs everything that becomes due.",
        { by: z.string().max(20).describe('30s, 6m or 2h') },
        async ({ by }) => {
          const { clock, ended } = await advanceClock(simulator(), 'advance', {
            by: milliseconds(by),
          });
          return {
            ...clock,
            attempts: { ended: ended.length, acknowledged: acknowledgedOf(ended) },
          };
        },
      ),
    ),
  ];
}
