import { EVENT_NAMES, eventKey } from '@call-webhooks/core';
import { deadLetterId } from '@call-webhooks/core/stores';
import { redactId, tenantKey } from '@call-webhooks/core/internal';
import type {
  CallEvent,
  CallTimeline,
  DeadLetterRow,
  DeliveriesPage,
  DeliveryRow,
} from '../api-types.ts';
import { listOf, numberOf, OUTCOME_CODES, parametersOf, timeOf } from '../http/query.ts';
import type { DeadLetterReader } from '../recovery/dead-letter-reader.ts';
import type { RouteContext } from './context.ts';

const RESULTS = ['acknowledged', 'failed', 'refused'];
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
/** Of a call with more events, the dead letters of the others are found in their list. */
const MAX_EVENTS = 20;
const MAX_KEYS = 20;

export function deliveries({ settings, request }: RouteContext): DeliveriesPage {
  const { outcome, result, source, event, call, tenant, text, since, until, before, limit } =
    parametersOf(request.query, [
      ...(['outcome', 'result', 'source', 'event', 'call', 'tenant', 'text'] as const),
      ...(['since', 'until', 'before', 'limit'] as const),
    ]);
  const { stats } = settings;
  const page = stats.collector.deliveries.page(
    {
      outcomes: listOf(['outcome', outcome], OUTCOME_CODES),
      results: listOf(['result', result], RESULTS),
      source,
      eventName: event,
      callId: call === undefined ? undefined : redactId(call),
      tenant,
      text,
      since: timeOf(['since', since]),
      until: timeOf(['until', until]),
    },
    numberOf(['limit', limit], 1, MAX_LIMIT) ?? DEFAULT_LIMIT,
    numberOf(['before', before], 1, Number.MAX_SAFE_INTEGER),
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
    // The deliveries are known, whether or not the store of dead letters answers.
    const unknown = { deadLetterUnknown: true } as const;
    const letter = letters
      ? await letterOf(letters, eventName, callId, tenant, ofEvent).then(
          (deadLetter) => (deadLetter ? { deadLetter } : {}),
          () => unknown,
        )
      : {};
    return {
      eventName,
      state: stateOf(ofEvent, 'deadLetter' in letter ? letter.deadLetter : undefined),
      deliveries: ofEvent,
      ...letter,
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
  letters: DeadLetterReader,
  eventName: string,
  callId: string,
  tenant: string | undefined,
  rows: readonly DeliveryRow[],
): Promise<DeadLetterRow | undefined> {
  const keys = new Set<string>();
  // A recording's key is its own id, which only a delivery tells.
  const own = eventKey({ eventName, callId });
  if (own !== undefined) keys.add(tenantKey(tenant, own));
  for (const { key } of rows) if (key !== undefined && keys.size < MAX_KEYS) keys.add(key);
  const ids = await Promise.all([...keys].map((key) => deadLetterId({ key, webhookId: '' })));
  const found = await Promise.all(ids.map((id) => letters.row(id)));
  return found.find((row) => row !== undefined);
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
