/** What `client.rules.addWebhook` is given. */
export interface WebhookInput {
  /** Where deliveries go: an http or https URL. */
  readonly url: string;
  /** The custom payload that is sent instead of the event's own body (no `eventName` is added). */
  readonly payload?: unknown;
}

/**
 * The names that the spec does not show. Every default is a guess that no document confirms; set
 * what your service really uses.
 */
export interface WireNames {
  /** The query parameter that carries a page's cursor. Default `next`. */
  readonly nextParam: string;
  /** The field of an answer that holds the next cursor; dots descend. Default `next`. */
  readonly nextField: string;
  /** The field that says whether there are more pages; dots descend. Default `hasNext`. */
  readonly hasNextField: string;
  /** The query parameter for the page size. Default `limit`. */
  readonly limitParam: string;
  /** The field that holds the call records of `GET /v1/calls`. Default `results`. */
  readonly callsField: string;
  /** The header that names a request in an answer. Default `x-request-id`. */
  readonly requestIdHeader: string;
  /** Makes the body of `POST /v1/rules/{id}/actions`. Default `{ type: 'webhook', url, payload }`. */
  readonly webhookAction: (input: WebhookInput) => unknown;
}

/** The guesses, in one place. */
export const defaultWireNames: WireNames = {
  nextParam: 'next',
  nextField: 'next',
  hasNextField: 'hasNext',
  limitParam: 'limit',
  callsField: 'results',
  requestIdHeader: 'x-request-id',
  webhookAction: ({ url, payload }) => ({
    type: 'webhook',
    url,
    ...(payload === undefined ? {} : { payload }),
  }),
};
