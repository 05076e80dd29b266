/** What we write to the CRM about a call. */
export interface CrmEntry {
  readonly placedBy: string | undefined;
  readonly number: string | undefined;
  readonly endedAt: string | undefined;
  readonly recording: { readonly file: string; readonly seconds: number | undefined } | undefined;
}

/** The part of the CRM's API that this example uses. */
export interface Crm {
  /** Creates or replaces the entry of a call, so it is idempotent. Throws if it fails. */
  putCall(callId: string, entry: CrmEntry): Promise<void>;
}

/** A CRM with an HTTP interface. */
export function crmAt(url: string): Crm {
  return {
    async putCall(callId, entry) {
      const response = await fetch(`${url}/calls/${encodeURIComponent(callId)}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(entry),
        signal: AbortSignal.timeout(10_000),
      });
      await response.body?.cancel();
      // The receiver then responds 500, and the service retries the event.
      if (!response.ok) throw new Error(`the CRM responded ${String(response.status)}`);
    },
  };
}
