/** The webhook action that `client.rules.addWebhook` creates. */
export interface WebhookInput {
  /** Where deliveries are sent: an http or https URL. */
  readonly url: string;
  /** A custom payload, sent instead of the event's own body. No `eventName` is added to it. */
  readonly payload?: unknown;
}

/** Names that the spec does not show. Every default is a guess: set what your service uses. */
export interface WireNames {
  /** The query parameter for a page's cursor. Defaults to `next`. */
  readonly nextParam: string;
  /**
   * The field of a response that holds the next cursor, or a URL with it. A path with dots leads into
   * objects, such as `paging.next`. Defaults to `next`.
   */
  readonly nextField: string;
  /** The field that says whether there are more pages; may be a path. Defaults to `hasNext`. */
  readonly hasNextField: string;
  /** The query parameter for the page size. Defaults to `limit`. */
  readonly limitParam: string;
  /** The field that holds the call records of `GET /v1/calls`; may be a path. Defaults to `results`. */
  readonly callsField: string;
  /**
   * The field that holds the signing secret in the response to a write; may be a path. By default the
   * whole response is searched for the secret of the action.
   */
  readonly secretField: string | undefined;
  /** The response header that identifies a request. Defaults to `x-request-id`. */
  readonly requestIdHeader: string;
  /**
   * Creates the body of `POST /v1/rules/{id}/actions`. Defaults to
   * `({ url, payload }) => ({ type: 'webhook', url, payload })`.
   */
  readonly webhookAction: (input: WebhookInput) => unknown;
}

/** The default of each name. All of them are guesses. */
export const defaultWireNames: WireNames = {
  nextParam: 'next',
  nextField: 'next',
  hasNextField: 'hasNext',
  limitParam: 'limit',
  callsField: 'results',
  secretField: undefined,
  requestIdHeader: 'x-request-id',
  webhookAction: ({ url, payload }) => ({
    type: 'webhook',
    url,
    ...(payload === undefined ? {} : { payload }),
  }),
};
