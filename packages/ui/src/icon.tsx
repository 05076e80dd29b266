/** Strokes on a grid of 16 by 16. */
const PATHS = {
  check: 'M3.5 8.5l3 3 6-7',
  cross: 'M4.5 4.5l7 7m0-7l-7 7',
  clock: 'M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11zM8 5v3.2l2.2 1.3',
  flight: 'M2.5 8h9M8 4.5L11.5 8L8 11.5',
  pause: 'M5.8 4v8M10.2 4v8',
  minus: 'M4 8h8',
  phone:
    'M3 3.2l2.1-.7 1.6 3-1.3 1.1a7.6 7.6 0 0 0 4 4l1.1-1.3 3 1.6-.7 2.1c-.2.5-.7.7-1.2.6C7 12.9 3.1 9 2.4 4.4c-.1-.5.1-1 .6-1.2z',
  again: 'M12.8 8a4.8 4.8 0 1 1-1.5-3.5M11.6 2v2.8H8.8',
  copy: 'M6 6h7v7H6zM10 6V3H3v7h3',
  terminal: 'M2.5 3.5h11v9h-11zM5 6.5l2 1.5l-2 1.5M8.5 10h2.5',
  eye: 'M1.8 8S4 3.9 8 3.9S14.2 8 14.2 8S12 12.1 8 12.1S1.8 8 1.8 8zM8 6.2a1.8 1.8 0 1 0 0 3.6a1.8 1.8 0 0 0 0-3.6z',
  rotate: 'M3.2 6.5A5 5 0 0 1 12.4 6M12.8 3v3.2H9.6M12.8 9.5A5 5 0 0 1 3.6 10M3.2 13V9.8h3.2',
  theme: 'M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11',
  forward: 'M4.5 3.5v9l7-4.5z',
  skip: 'M4 3.5v9l6-4.5zM12 3.5v9',
  idle: 'M2.5 3.5v9L8 8zM8 3.5v9L13.5 8z',
  search: 'M7 2.8a4.2 4.2 0 1 0 0 8.4a4.2 4.2 0 0 0 0-8.4zM10.2 10.2l3.3 3.3',
} as const;

export type IconName = keyof typeof PATHS;

/** An icon next to a text. It is hidden from screen readers. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg viewBox="0 0 16 16" class="icon" aria-hidden="true">
    <path d={PATHS[name]} />
    {name === 'theme' && <path d="M8 2.5a5.5 5.5 0 1 0 0 11z" class="filled" />}
  </svg>
);
