import type { ComponentChildren } from 'preact';

interface TopBarProps {
  /** Which page it is. */
  readonly page: string;
  readonly icon: ComponentChildren;
  /** A name for the colour of the connection: `live` or `lost`, for example. */
  readonly connection: string;
  /** The same in words. */
  readonly words: string;
  /** A tooltip of the connection. */
  readonly title?: string;
  readonly children: ComponentChildren;
}

/** The name of the page, its connection, and what else stands at the top. */
export const TopBar = ({ page, icon, connection, words, title, children }: TopBarProps) => (
  <header class="top">
    <div class="brand">
      {icon}
      <h1>
        Call webhooks <span class="brand-note">{page}</span>
      </h1>
    </div>
    <div class="connection" data-connection={connection} title={title}>
      <span class="dot" aria-hidden="true" />
      <span role="status">{words}</span>
    </div>
    {children}
  </header>
);
