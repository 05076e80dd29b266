/** The sections of the page. `deliveries` is a tab only on narrow pages. */
export const SECTIONS = ['deliveries', 'rules', 'calls', 'outbox', 'chaos'] as const;
export type Section = (typeof SECTIONS)[number];

const NARROW = matchMedia('(max-width: 899px)');

/** The section that a page of this width shows. A wide page always shows the deliveries. */
export const shownSection = (section: Section): Section =>
  !NARROW.matches && section === 'deliveries' ? 'rules' : section;

/** Calls a listener when the page becomes narrow or wide. */
export const onNarrow = (listener: () => void): void => {
  NARROW.addEventListener('change', listener);
};
