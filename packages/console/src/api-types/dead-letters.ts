import type { DeadLetter } from '@call-webhooks/core';
import type { DeliverySource } from '@call-webhooks/core/internal';

/** The query of `api/dead-letters`. Every condition that is given has to hold. */
export interface DeadLettersQuery {
  event?: string;
  reason?: string;
  tenant?: string;
  /** Failed last at this time or later. */
  since?: string;
  until?: string;
  /** The `cursor` of the page before. */
  cursor?: string;
  /** 1 to 200; 50 by default. */
  limit?: string;
}

/** The letters that failed longest ago come first. */
export interface DeadLettersPage {
  letters: DeadLetterRow[];
  /** Absent on the last page. */
  cursor?: string;
  /** How many match. */
  total: number;
}

export interface DeadLetterRow {
  id: string;
  reason: DeadLetter['reason'];
  tenant?: string;
  webhookId: string;
  eventName?: string;
  callId?: string;
  key?: string;
  attempt: number;
  /** When the last attempt was signed. */
  signedAt: number;
  failedAt: number;
  source: DeliverySource;
  /** Without personal data and secrets. */
  error: string;
  /** How many attempts failed, redrives among them. */
  attempts: number;
  /** Until when a redrive has it. */
  claimedUntil?: number;
}

export interface DeadLetterDetail extends DeadLetterRow {
  /** Oldest first; at most the last 50. */
  history: { at: number; source: DeliverySource; attempt: number; error: string }[];
  body: DeadLetterBody;
}

/** The body of a dead letter. */
export interface DeadLetterBody {
  /** Whether personal data is masked. `reveal` answers with the body as it is. */
  masked: boolean;
  /** JSON is indented. A masked body that is no JSON has no text. */
  text: string | null;
  isJson: boolean;
  /** The size of the body. */
  bytes: number;
  /** Whether the text was cut at 256 KB. */
  truncated: boolean;
}

export interface Removed {
  /** `false`: it was gone already. */
  removed: boolean;
}
