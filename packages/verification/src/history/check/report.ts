/** What a history comes to. */
export interface Report {
  violations: string[];
  counts: Record<string, number>;
}
