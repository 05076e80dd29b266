/** What came of one attempt, as the service sees it. */
export type Answer =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers: Readonly<Record<string, string | string[] | undefined>>;
      /** At most 64 kB of it, for the inspector: the service ignores it. */
      readonly body: string;
      readonly truncated: boolean;
    }
  /** No status line within the acknowledgement time. */
  | { readonly kind: 'timeout' }
  /** Refused, reset, unresolvable, not HTTP: whatever the code of Node says. */
  | { readonly kind: 'connection-error'; readonly code: string };
