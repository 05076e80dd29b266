import { deadLetterId, EVENT_NAMES, eventKey, redactId, tenantKey } from '@call-webhooks/core';
import type {
  CallEvent,
  CallTimeline,
  DeadLetterRow,
  DeliveriesPage,
  DeliveryRow,
} from '../api-types.ts';
import { listOf, numberOf, OUTCOME_CODES, parametersOf, timeOf } from '../http/query.ts';
import type { LetterDesk } from '../recovery/letter-desk.ts';
import type { RouteContext } from './context.ts';

const RESULTS = ['acknowledged', 'failed', 'refused'];
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
/** Of a call with more events, the dead letters of the others are found in their list. */
const MAX_EVENTS = 20;

export function deliveries({ settings, request }: RouteContext): DeliveriesPage {
  const { outcome, result, source, event, call, tenant, text, since, until, before, limit } =
    parametersOf(request.query, [
      ...(['outcome', 'result', 'source', 'event', 'call', 'tenant', 'text'] as const),
      ...(['since', 'until', 'before', 'limit'] as const),
    ]);
  const { stats } = settings;
  const page = stats.collector.deliveries.page(
    {
      outcomes: listOf(outcome, OUTCOME_CODES),
      results: listOf(result, RESULTS),
      source,
      eventName: event,
      callId: call === undefined ? undefined : redactId(call),
      tenant,
      text,
      since: timeOf(since),
      until: timeOf(until),
    },
    numberOf(limit, 1, MAX_LIMIT) ?? DEFAULT_LIMIT,
    numberOf(before, 1, Number.MAX_SAFE_INTEGER),
  );
  return { ...page, process: stats.process.id };
}

export async function callTimeline(context: RouteContext): Promise<CallTimeline> {
  const { settings, request, letters, parameters } = context;
  const { tenant } = parametersOf(request.query, ['tenant']);
  const [callId = ''] = parameters;
  const { stats } = settings;
  const rows = stats.collector.deliveries.ofCall(callId, tenant);
  const names = new Set<string>(EVENT_NAMES);
  for (const { eventName } of rows) if (eventName !== undefined) names.add(eventName);
  const events = [...names].slice(0, MAX_EVENTS).map(async (eventName): Promise<CallEvent> => {
    const ofEvent = rows.filter((row) => row.eventName === eventName);
    const deadLetter = letters && (await letterOf(letters, eventName, callId, tenant, ofEvent));
    return {
      eventName,
      state: stateOf(ofEvent, deadLetter),
      deliveries: ofEvent,
      ...(deadLetter && { deadLetter }),
    };
  });
  return {
    callId: redactId(callId),
    tenant: tenant ?? null,
    process: stats.process.id,
    events: await Promise.all(events),
  };
}

/** The id of a letter follows from the key of its event. */
async function letterOf(
  letters: LetterDesk,
  eventName: string,
  callId: string,
  tenant: string | undefined,
  rows: readonly DeliveryRow[],
): Promise<DeadLetterRow | undefined> {
  const keys = new Set(rows.flatMap(({ key }) => key ?? []));
  // A recording's key is its own id, which only a delivery tells.
  const own = eventKey({ eventName, callId });
  if (own !== undefined) keys.add(tenantKey(tenant, own));
  for (const key of keys) {
    const row = await letters.row(await deadLetterId({ key, webhookId: '' }));
    if (row) return row;
  }
  return undefined;
}

const STATES: Partial<Record<DeliveryRow['outcome'], CallEvent['state']>> = {
  handled: 'handled',
  duplicate: 'handled',
  ignored: 'handled',
  queued: 'queued',
  'dead-lettered': 'dead-lettered',
  'in-dead-letters': 'dead-lettered',
};

function stateOf(
  rows: readonly DeliveryRow[],
  letter: DeadLetterRow | undefined,
): CallEvent['state'] {
  const states = rows.map(({ outcome }) => STATES[outcome] ?? 'failed');
  // Nothing undoes it, whatever order the outcomes came in.
  if (states.includes('handled')) return 'handled';
  return letter ? 'dead-lettered' : (states.at(-1) ?? 'not-seen');
}
