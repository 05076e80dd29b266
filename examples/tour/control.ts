import type {
  CallInput,
  ChaosSettings,
  PlacedCallInput,
  Rule,
  RuleInput,
  WebhookEvent,
} from '@call-webhooks/simulator';

/** The part of the simulator's control API that the tour uses. */
export type Control = ReturnType<typeof controlOf>;

/** @param url the URL of the simulator */
export function controlOf(url: string) {
  async function ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await fetch(`${url}/_sim${path}`, {
      method,
      ...(method !== 'GET' &&
        method !== 'DELETE' && {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body ?? {}),
        }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return (response.status === 204 ? undefined : await response.json()) as Answer;
  }

  return {
    createRule: (rule: RuleInput) => ask<Rule>('POST', '/rules', rule),
    setRecordingWebhook: (to: { url: string; secret: string }) =>
      ask<Rule>('POST', '/recording-webhook', to),
    removeRule: (id: string) => ask('DELETE', `/rules/${id}`),
    rotateSecret: (ruleId: string, actionId: string) =>
      ask<{ signingSecret: string }>('POST', `/rules/${ruleId}/actions/${actionId}/rotate`),
    placeCall: (call: PlacedCallInput) => ask('POST', '/calls', call),
    startCall: (call: CallInput) => ask('POST', '/calls/start', call),
    setChaos: (chaos: Partial<ChaosSettings>) => ask('PATCH', '/chaos', chaos),
    clearChaos: () => ask('POST', '/chaos/clear'),
    clock: () => ask<{ now: number; nextDueAt: number | null }>('GET', '/clock'),
    /** @param by a duration, such as `15m` */
    advance: (by: string) => ask('POST', '/clock/advance', { by }),
    turnToNext: () => ask('POST', '/clock/next'),
    /** Waits until no attempt is in flight. */
    settled: () => ask('POST', '/events/settled'),
    /** The last hundred events, without bodies. */
    events: () => ask<Pick<WebhookEvent, '_id' | 'attempts'>[]>('GET', '/events'),
    event: (id: string) => ask<WebhookEvent>('GET', `/events/${id}`),
  };
}
