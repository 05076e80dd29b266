/** What the CRM is told of a call. */
export interface CrmEntry {
  readonly placedBy: string | undefined;
  readonly number: string | undefined;
  readonly endedAt: string | undefined;
  readonly recording: { readonly file: string; readonly seconds: number } | undefined;
}

/** The part of your CRM that is used here. */
export interface Crm {
  /** Writes the entry of a call, or replaces it: twice is as good as once. Throws when it fails. */
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
      // Thrown: the receiver answers 500, and the service delivers the event again.
      if (!response.ok) throw new Error(`the CRM answered ${String(response.status)}`);
    },
  };
}
