/** What is used of a `TracingChannel` of `node:diagnostics_channel`. */
export interface TracingChannel {
  readonly hasSubscribers: boolean;
  tracePromise<T>(run: () => Promise<T>, message: object): Promise<T>;
}

/** What is used of a `Channel` of `node:diagnostics_channel`. */
export interface PlainChannel {
  readonly hasSubscribers: boolean;
  publish(message: object): void;
}

/** The channel of a name, or `undefined` where the runtime has none. */
export type OpenPlainChannel = (name: string) => PlainChannel | undefined;

/** The tracing channel of a name, or `undefined` where the runtime has none. */
export type OpenChannel = (name: string) => TracingChannel | undefined;
