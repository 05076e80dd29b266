/** An email that the service would have sent. */
export interface Mail {
  readonly _id: string;
  /** Milliseconds of the simulator's clock. */
  readonly sentAt: number;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly ruleId: string;
}
