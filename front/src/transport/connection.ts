// The WebSocket connection to the server, which reconnects automatically.

import type { FromServer, ToServer } from "./protocol.ts";

export type ConnectionState = "connecting" | "open" | "lost";

export interface Listener {
  message(m: FromServer): void;
  motion(b: ArrayBuffer): void;
  state(s: ConnectionState): void;
}

/** Delay before reconnecting, in ms: doubled after each attempt, up to the longest. */
const MIN_DELAY = 300;
const MAX_DELAY = 3000;

/** WebSocket.OPEN, defined here because tests use their own sockets. */
const OPEN = 1;

export class Connection {
  private socket: WebSocket | null = null;
  private delay = MIN_DELAY;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private isClosed = false;
  /** Unsent messages: the latest run, and the latest motion request after it.  Older ones are superseded. */
  private pendingRun: ToServer | null = null;
  private pendingMotion: ToServer | null = null;

  constructor(
    private readonly address: string,
    private readonly on: Listener,
  ) {
    this.connect();
  }

  send(m: ToServer): void {
    if (this.socket !== null && this.socket.readyState === OPEN) {
      this.socket.send(JSON.stringify(m));
      return;
    }
    if (m.type === "run" || m.type === "sweep") {
      this.pendingRun = m;
      this.pendingMotion = null;
    } else if (m.type === "motion") {
      this.pendingMotion = m;
    } else {
      if (this.pendingRun?.id === m.id) this.pendingRun = null;
      if (this.pendingMotion?.id === m.id) this.pendingMotion = null;
    }
  }

  close(): void {
    this.isClosed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.socket?.close();
  }

  private connect(): void {
    this.on.state("connecting");
    let socket: WebSocket;
    try {
      socket = new WebSocket(this.address);
    } catch {
      // The page may not open sockets at all: retrying is cheap.
      this.reconnect();
      return;
    }
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.delay = MIN_DELAY;
      this.on.state("open");
      for (const m of [this.pendingRun, this.pendingMotion]) if (m !== null) this.send(m);
      this.pendingRun = this.pendingMotion = null;
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === "string") this.on.message(JSON.parse(event.data) as FromServer);
      else this.on.motion(event.data);
    };
    // An error is always followed by a close event.
    socket.onclose = () => {
      if (this.socket === socket) this.reconnect();
    };
  }

  private reconnect(): void {
    this.socket = null;
    if (this.isClosed) return;
    this.on.state("lost");
    this.timer = setTimeout(() => this.connect(), this.delay);
    this.delay = Math.min(2 * this.delay, MAX_DELAY);
  }
}
