// The scene of one frame: the body, its arrows and paths, and its surroundings.

import {
  DirectionalLight,
  Group,
  HemisphereLight,
  Mesh,
  MeshBasicMaterial,
  type MeshLambertMaterial,
  Scene,
  SphereGeometry,
  Vector3,
  type Material,
  type PerspectiveCamera,
  type Raycaster,
} from "three";
import { readable } from "../colors.ts";
import type { Appearance } from "../motion/record.ts";
import { plus, scaled, toWorld } from "../motion/vectors.ts";
import type { Options } from "../options.ts";
import { Arrow, pixelAt } from "./arrows.ts";
import { Body, buildShell, disposeShell, type Shell } from "./body.ts";
import { OmegaCloud } from "./omega-cloud.ts";
import { InstancedBodies, bodyTones } from "./instances.ts";
import { memberName } from "./color-scale.ts";
import { ClosedFormOverlay } from "./closed-form.ts";
import { Contacts } from "./contacts.ts";
import { Ghost } from "./ghost.ts";
import { Ground } from "./ground.ts";
import type { Size, LabelRequest } from "./labels.ts";
import { movePattern, patternMaterial } from "./pattern.ts";
import { hasStand, Pivot } from "./pivot.ts";
import { Poinsot } from "./poinsot.ts";
import { buildProps, propsKey, type Prop } from "./props/index.ts";
import { arrowStart, quantitiesOf, type Quantity } from "./quantities.ts";
import { hasSpring, Spring } from "./spring.ts";
import { poseInFrame, type Frame, type Instant, type FramePose, type ViewContext } from "./context.ts";
import { Trails } from "./trails.ts";

const DOT_PIXELS = 4;
/** Opacity of a body that one can look into. */
const SEE_THROUGH = 0.42;
/** A body smaller than this, in pixels, has no labels at its arrows. */
const MIN_LABELED_SIZE = 26;

export class FrameScene {
  readonly scene = new Scene();
  readonly ground: Ground | null = null;
  contacts: Contacts | null = null;
  instances: InstancedBodies | null = null;
  props: Prop[];
  private propsKey: string | null;
  private appearance: Appearance;
  private shell: Shell;
  private readonly body: Body;
  private readonly closedForm: ClosedFormOverlay;
  private readonly trails: Trails;
  private readonly poinsot: Poinsot;
  private readonly pivot: Pivot | null;
  private readonly omegaCloud: OmegaCloud | null;
  private readonly spring: Spring | null;
  private readonly ghost: Ghost | null;
  private arrows: { quantity: Quantity; arrow: Arrow }[] = [];
  private readonly point: Mesh<SphereGeometry, MeshBasicMaterial>;
  private readonly key = new DirectionalLight("#fffaf2", 2.1);

  constructor(private readonly context: ViewContext, private readonly frame: Frame) {
    const { record, watched, colors, effects } = context;
    const appearance = record.appearances[record.appearanceIndex[watched]];
    this.appearance = appearance;
    this.shell = buildShell(appearance);
    const material = patternMaterial(appearance, bodyTones(context), effects);
    if (record.stage.seeThrough) Object.assign(material, { transparent: true, opacity: SEE_THROUGH, depthWrite: false });
    this.body = new Body(this.shell, material, "#2a2a33");
    this.closedForm = new ClosedFormOverlay(context, frame, this.shell);
    this.trails = new Trails(context, frame);
    this.poinsot = new Poinsot(context, frame);
    this.addArrows();
    this.pivot = record.hasPivot && !hasStand(record.stage) ? new Pivot(context, frame) : null;
    this.point = new Mesh(new SphereGeometry(1, 16, 12), new MeshBasicMaterial({ color: colors.ink }));
    const parts = new Group().add(this.body, this.closedForm.body, this.trails, this.poinsot, this.point);
    this.scene.add(parts, ...this.closedForm.axes, this.key, this.key.target);
    this.scene.add(new HemisphereLight("#ffffff", "#b4b2bc", 1.75));
    this.omegaCloud = frame === "body" && record.axis === "member" ? new OmegaCloud(context) : null;
    this.spring = frame === "space" && hasSpring(record) ? new Spring(context) : null;
    this.ghost = context.pinned ? new Ghost(context, context.pinned.record, frame) : null;
    for (const part of [this.pivot, this.omegaCloud, this.spring, this.ghost]) if (part) this.scene.add(part);
    this.props = buildProps(context, frame);
    this.propsKey = propsKey(context);
    if (this.props.length > 0) this.scene.add(...this.props.map(({ object }) => object));
    if (frame === "space") {
      this.scene.add((this.ground = new Ground(context)), (this.instances = new InstancedBodies(context)));
      if (record.contacts.length > 0) this.scene.add((this.contacts = new Contacts(context)));
      if (effects === "high") this.castShadows();
    }
  }

  /** The context has another motion of the same structure: materials and shaders stay, and most buffers. */
  reload(): void {
    const { record, watched } = this.context;
    const appearance = record.appearances[record.appearanceIndex[watched]];
    if (appearance !== this.appearance) this.reshape(appearance);
    this.addArrows();
    this.trails.reload();
    this.poinsot.reload();
    this.omegaCloud?.reload();
    this.reloadProps();
    if (this.contacts) {
      this.scene.remove(this.contacts);
      this.contacts.dispose();
      this.scene.add((this.contacts = new Contacts(this.context)));
    }
  }

  /** Props may depend on the motion or the knobs. */
  private reloadProps(): void {
    const key = propsKey(this.context);
    if (key !== null && key === this.propsKey) return;
    this.propsKey = key;
    for (const prop of this.props) {
      this.scene.remove(prop.object);
      prop.dispose();
    }
    this.props = buildProps(this.context, this.frame);
    if (this.props.length > 0) this.scene.add(...this.props.map(({ object }) => object));
  }

  private reshape(appearance: Appearance): void {
    const before = this.shell;
    this.appearance = appearance;
    this.shell = buildShell(appearance);
    this.body.setShell(this.shell);
    this.closedForm.body.setShell(this.shell);
    movePattern(this.body.mesh.material as Material, appearance);
    disposeShell(before);
    if (!this.instances || this.context.record.bodies < 2) return;
    this.scene.remove(this.instances);
    this.instances.dispose();
    this.scene.add((this.instances = new InstancedBodies(this.context)));
    if (this.context.effects === "high") this.castShadows();
  }

  /** One arrow for each quantity; those that are already there are kept. */
  private addArrows(): void {
    const { record, watched, colors } = this.context;
    const before = new Map(this.arrows.map((one) => [one.quantity.name, one.arrow]));
    this.arrows = quantitiesOf(record, watched, colors, this.context.held).map((quantity) => {
      const arrow = before.get(quantity.name) ?? new Arrow(quantity.color, quantity.boldness);
      if (!before.delete(quantity.name)) this.scene.add(arrow);
      return { quantity, arrow };
    });
    for (const arrow of before.values()) {
      this.scene.remove(arrow);
      arrow.dispose();
    }
  }

  update(options: Options, instant: Instant, isFollowing: boolean, radius: number): FramePose {
    const framePose = poseInFrame(this.frame, this.context, instant);
    this.body.setPose(framePose.position, framePose.attitude, instant.size);
    this.body.visible &&= instant.isPresent;
    this.closedForm.update(options.closedForm, instant);
    this.poinsot.update(options.poinsot, instant, framePose);
    this.trails.visible = instant.isPresent;
    if (instant.isPresent) this.trails.update(options, instant, framePose);
    for (const { quantity, arrow } of this.arrows) {
      const isOn = instant.isPresent && options[quantity.isShown];
      const { from, vector } = arrowStart(quantity, this.frame, this.context, instant, framePose);
      arrow.point(from, isOn ? vector : [0, 0, 0]);
    }
    const point = scaled(1 / this.context.framing.unit, options.point); // true position, even where bodies are drawn larger
    this.point.visible = options.trailPoint && instant.isPresent;
    if (this.point.visible) this.point.position.set(...plus(framePose.position, toWorld(framePose.attitude, point)));
    this.instances?.update(instant);
    this.spring?.update(instant);
    this.ghost?.update(options, instant, framePose);
    this.contacts?.update(options.impacts, instant, radius);
    this.omegaCloud?.update(options.omega, instant, framePose);
    const ground = this.ground?.update(instant, isFollowing, radius) ?? null;
    this.pivot?.update(instant, framePose, ground);
    for (const prop of this.props) prop.update(instant, framePose);
    return framePose;
  }

  /** Adapt screen sizes to the camera; light comes from the upper left behind it. */
  fit(camera: PerspectiveCamera, width: number, height: number, radius: number): void {
    for (const arrow of [...this.arrows.map(({ arrow }) => arrow), ...this.closedForm.axes]) arrow.fit(camera, height);
    this.trails.setPixels(width, height);
    this.spring?.setPixels(width, height);
    this.ghost?.setPixels(width, height);
    this.contacts?.fit(camera, height);
    this.poinsot.fit(camera, width, height);
    for (const prop of this.props) prop.fit?.(camera, width, height);
    this.point.scale.setScalar(DOT_PIXELS * pixelAt(camera, this.point.position, height));
    const side = new Vector3().setFromMatrixColumn(camera.matrixWorld, 0);
    const back = new Vector3().setFromMatrixColumn(camera.matrixWorld, 2).projectOnPlane(camera.up).normalize();
    this.key.position.copy(camera.up).multiplyScalar(1.5 * radius).addScaledVector(side, -0.75 * radius).addScaledVector(back, 0.7 * radius);
    if (this.key.castShadow) this.fitShadow(radius);
  }

  /** Labels of visible arrows and curves, the most important first; a small body has only its name. */
  labelRequests(camera: PerspectiveCamera, pane: Size, instant: Instant): LabelRequest[] {
    const onScreen = (place: Vector3): [number, number] => {
      const { x, y } = place.clone().project(camera);
      return [((x + 1) * pane.width) / 2, ((1 - y) * pane.height) / 2];
    };
    const request = (text: string, color: string, at: Vector3, from: Vector3): LabelRequest => {
      const [[x, y], [fromX, fromY]] = [onScreen(at), onScreen(from)];
      return { text, color: readable(color, colors), x, y, fromX, fromY };
    };
    const { record, watched, colors } = this.context;
    const isSmall = instant.reach / pixelAt(camera, this.body.position, pane.height) < MIN_LABELED_SIZE;
    if (isSmall && record.axis === "member") {
      const { position } = this.body;
      const above = new Vector3(0, 0, 1.8 * instant.reach).add(position);
      return instant.isPresent ? [request(memberName(record, watched), colors.ink, above, position)] : [];
    }
    const [x, y] = onScreen(this.body.position);
    const curves = this.poinsot.labels(camera).map(({ text, color, at, from }) => ({ ...request(text, color, at, from), away: { x, y } }));
    const props = this.props.flatMap((prop) => prop.labels?.() ?? []).map(({ text, color, at, from }) => request(text, color, at, from));
    const arrows = this.arrows.filter(({ arrow, quantity }) => arrow.visible && !(isSmall && quantity.isFixed));
    return arrows
      .sort((a, b) => Number(a.quantity.isFixed) - Number(b.quantity.isFixed))
      .map(({ quantity, arrow }) => request(quantity.label, quantity.color, arrow.tip(new Vector3()), arrow.position))
      .concat(curves, props);
  }

  /** The first body on a ray; null if there is none, or it is the watched one. */
  bodyUnder(ray: Raycaster): number | null {
    const other = this.instances?.bodyUnder(ray) ?? null;
    const own = this.body.visible ? ray.intersectObject(this.body.mesh)[0] : undefined;
    return other && !(own && own.distance < other.distance) ? other.body : null;
  }

  get quantities(): Quantity[] {
    return this.arrows.map(({ quantity }) => quantity);
  }

  /** Whether the watched body is the first thing on a ray. */
  isOnBody(ray: Raycaster): boolean {
    return this.body.visible && ray.intersectObject(this.body.mesh).length > 0;
  }

  /** Light up the body, to say that it can be dragged. */
  highlight(yes: boolean): void {
    (this.body.mesh.material as MeshLambertMaterial).emissive.set(yes ? "#24384a" : "#000000");
  }

  /** Whether arrows are seen through bodies, which takes half of all draws. */
  showThrough(yes: boolean): void {
    for (const { arrow } of this.arrows) arrow.showThrough(yes);
  }

  showShadows(yes: boolean): void {
    if (this.ground === null || this.context.effects === "low") return;
    this.key.castShadow = yes;
    this.ground.showShadow(yes);
  }

  dispose(): void {
    disposeShell(this.shell);
    const { body, closedForm, trails, poinsot, pivot, omegaCloud, spring, ghost, ground, contacts, instances, key } = this;
    for (const part of [body, closedForm, trails, poinsot, pivot, omegaCloud, spring, ghost, ground, contacts, instances, key]) part?.dispose();
    for (const { arrow } of this.arrows) arrow.dispose();
    for (const prop of this.props) prop.dispose();
    this.point.geometry.dispose();
    this.point.material.dispose();
  }

  private castShadows(): void {
    this.key.castShadow = true;
    this.key.shadow.mapSize.set(2048, 2048);
    this.key.shadow.radius = 3;
    this.key.shadow.normalBias = 0.02;
    this.body.mesh.castShadow = true;
    this.body.mesh.receiveShadow = true;
    this.instances?.children.forEach((mesh) => (mesh.castShadow = true));
  }

  private fitShadow(radius: number): void {
    const { camera } = this.key.shadow;
    camera.left = camera.bottom = -1.3 * radius;
    camera.right = camera.top = 1.3 * radius;
    camera.near = 0.05 * radius;
    camera.far = 6 * radius;
    camera.updateProjectionMatrix();
  }
}
