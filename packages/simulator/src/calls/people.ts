/** Invented people to call. The numbers are of a range that is kept free for fiction. */
export const PEOPLE = [
  { name: 'Dana Reyes', email: 'dana@customer.example', number: '+12025550101' },
  { name: 'Eli Novak', email: 'eli@customer.example', number: '+12025550102' },
  { name: 'Femi Okoro', email: 'femi@prospect.example', number: '+12025550103' },
  { name: 'Gwen Haas', email: 'gwen@prospect.example', number: '+12025550104' },
  { name: 'Hugo Lindqvist', email: 'hugo@partner.example', number: '+12025550105' },
] as const;

/** The service's own number. Its inner fields are a guess: the spec does not show them. */
export const SERVICE_NUMBER = { number: '+12025550199', label: 'Main line' } as const;
