/* The table of the mixture's functions, for a session on one or several graphics cards.
 *
 * Each card has some leaves, from the beginning of a node of the tree, and draws the same components. The host adds the
 * sums of the cards' largest complete subtrees in the tree's order. */
#include <tuple>

#include "core/mixture_half.h"
#include "cuda/mixture/state.cuh"
#include "cuda/table.cuh"

namespace wb {

namespace {

/* Parts begin at multiples of a power of two of leaves: the largest power with which each part has PIECES pieces, since
 * parts would differ in size otherwise. It is at most MOST_PIECE, the number of leaves that are combined at a time. */
constexpr int64_t PIECES = 8, MOST_PIECE = int64_t(1) << GROUP_LEVELS;
/* Levels of the tree, at most. */
constexpr int LEVELS = 64;
/* Sums that a thread adds up at a time. */
constexpr int64_t SUMS = 4096;

/* Names the card in a message. A wrong input is wrong on all cards, so its message names none. */
void name_card(int32_t device, int status, wb_message *message) {
  if (status == WB_ERROR_INPUT) return;
  const wb_message words = *message;
  std::snprintf(message->text, sizeof message->text, "graphics card %d: %.480s", int(device), words.text);
}

/* After a failure of one part the others may still be at work with the caller's memory. */
int failed(wb_mixture_session *session, const wb_mixture_session *part, int status, wb_message *message) {
  if (session->next == nullptr) return status;
  for (wb_mixture_session *s = session; s != nullptr; s = s->next) {
    wb_message ignored;
    device_scope scope;
    if (scope.enter(s->device, &ignored) == WB_OK) (void)settled(s, status);
  }
  name_card(part->device, status, message);
  return status;
}

template <typename Work>
int for_parts(wb_mixture_session *session, wb_message *message, Work work) {
  for (wb_mixture_session *s = session; s != nullptr; s = s->next) {
    const int status = on_device(s, message, [&](auto real) { return work(s, real); });
    if (status != WB_OK) return failed(session, s, status, message);
  }
  return WB_OK;
}

/* Calls draw(part, leaf, real) for a chunk of each part, then sum(part, &leaf, real), until all leaves are done. The
 * long kernel that draws starts on all devices before the many kernels that sum, which may fill a queue. */
template <typename Draw, typename Sum>
int for_chunks(wb_mixture_session *session, wb_message *message, Draw draw, Sum sum) {
  int64_t leaf[WB_MOST_DEVICES] = {};
  for (bool more = true; more;) {
    more = false;
    int64_t *next = leaf;
    WB_TRY(for_parts(session, message, [&](wb_mixture_session *s, auto real) {
      const int64_t mine = *next++;
      return mine == s->leaves ? int(WB_OK) : draw(s, mine, real);
    }));
    next = leaf;
    WB_TRY(for_parts(session, message, [&](wb_mixture_session *s, auto real) {
      int64_t *const mine = next++;
      if (*mine == s->leaves) return int(WB_OK);
      const int here = sum(s, mine, real);
      more = more || *mine < s->leaves;
      return here;
    }));
  }
  return WB_OK;
}

/* Calls work(part, row, rows, at, real) for each part that has some of rows first..first + count - 1: `rows` rows from
 * its number `row` on, which are number `at` of all. */
template <typename Work>
int for_rows(wb_mixture_session *session, int64_t first, int64_t count, wb_message *message, Work work) {
  return for_parts(session, message, [&](wb_mixture_session *s, auto real) {
    const int64_t from = larger(first, s->first_row), to = smaller(first + count, s->first_row + s->data.rows);
    return to <= from ? int(WB_OK) : work(s, from - s->first_row, to - from, from - first, real);
  });
}

/* Adds numbers begin..end - 1 of the nodes, whose sizes are given, into the first, in the order of the tree. */
void add_nodes(double *const *nodes, const int64_t *sizes, int count, int64_t begin, int64_t end) {
  double *waiting[LEVELS];
  int64_t size[LEVELS];
  int levels = 0;
  for (int i = 0; i < count; i++) {
    waiting[levels] = nodes[i];
    size[levels++] = sizes[i];
    /* After the last node no sibling will come. */
    while (levels > 1 && (size[levels - 1] == size[levels - 2] || i == count - 1)) {
      levels--;
      double *const left = waiting[levels - 1];
      const double *const right = waiting[levels];
      for (int64_t j = begin; j < end; j++) left[j] += right[j];
      size[levels - 1] *= 2;
    }
  }
}

/* Adds the sums of the parts, pieces x size each, which are used up. */
double *combine(const wb_mixture_session *session, size_t size, double *const *sums) {
  double *nodes[WB_MOST_DEVICES * 2 * LEVELS];
  int64_t sizes[WB_MOST_DEVICES * 2 * LEVELS];
  int count = 0;
  for (const wb_mixture_session *s = session; s != nullptr; s = s->next, sums++)
    for (int64_t leaf = 0; leaf < s->leaves;) {
      const mixture_piece piece = s->piece_of(leaf);
      sizes[count] = piece.size;
      nodes[count++] = *sums + size_t(piece.number) * size;
      leaf = piece.end;
    }
  const int64_t all = int64_t(size);
  spread(&session->run, ceiling(all, SUMS),
         [&](int64_t part) { add_nodes(nodes, sizes, count, part * SUMS, smaller(all, (part + 1) * SUMS)); });
  return nodes[0];
}

void close_session(wb_mixture_session *session) {
  for (wb_mixture_session *s = session; s != nullptr; s = s->next) wait_for_copies(s);
  while (session != nullptr) {
    wb_mixture_session *const next = session->next;
    close_on_device(session);
    session = next;
  }
}

int open_session(const wb_mixture_data *data, const wb_run *run, wb_mixture_session **session, wb_message *message) {
  const int64_t leaves = ceiling(data->rows, WB_LEAF_ROWS);
  /* Patterns of missing values list the rows of all leaves together: these stay on one card. */
  const int64_t devices = run->devices < 2 || data->missing != nullptr ? 1 : smaller<int64_t>(run->devices, leaves);
  int64_t piece = 1;
  while (piece < MOST_PIECE && 2 * piece * PIECES * devices <= leaves) piece *= 2;
  if (data->piece > 0) piece = data->piece;
  const int64_t pieces = ceiling(leaves, piece), cards = smaller(devices, pieces);
  wb_mixture_session *first = nullptr, **end = &first;
  for (int64_t d = 0; d < cards; d++) {
    const int64_t from = pieces * d / cards * piece * WB_LEAF_ROWS,
                  to = pieces * (d + 1) / cards * piece * WB_LEAF_ROWS;
    const mixture_part part = {devices == 1 ? run->device : run->shared[d], from, smaller(to, data->rows) - from,
                               cards == 1 && data->piece == 0 ? 0 : piece, data->piece == 0};
    const int status = open_part(data, &part, run, end, message);
    if (status != WB_OK) {
      if (cards > 1) name_card(part.device, status, message);
      close_session(first);
      return status;
    }
    end = &(*end)->next;
  }
  *session = first;
  return WB_OK;
}

/* A function of the table that calls WORK on the device of each part or of the first. Last argument: the message. */
template <auto WORK, typename... Given>
int on_all(wb_mixture_session *session, Given... given) {
  wb_message *const message = std::get<sizeof...(Given) - 1>(std::tie(given...));
  return for_parts(session, message, [&](wb_mixture_session *s, auto) { return WORK(s, given...); });
}
template <auto WORK, typename... Given>
int on_first(wb_mixture_session *session, Given... given) {
  wb_message *const message = std::get<sizeof...(Given) - 1>(std::tie(given...));
  return on_device(session, message, [&](auto) { return WORK(session, given...); });
}

int draw_labels(wb_mixture_session *session, const double *log_weight, uint64_t key, uint32_t iteration,
                int32_t *labels, wb_message *message) {
  WB_TRY(prepare_rows(session, message));
  WB_TRY(for_parts(session, message, [&](wb_mixture_session *s, auto real) {
    return begin_part_labels<decltype(real)>(s, log_weight, message);
  }));
  return for_chunks(
      session, message,
      [&](wb_mixture_session *s, int64_t leaf, auto real) {
        return draw_chunk_labels<decltype(real)>(s, key, iteration, labels == nullptr ? nullptr : labels + s->first_row,
                                                 leaf, message);
      },
      [&](wb_mixture_session *s, int64_t *leaf, auto real) {
        return sum_chunk_labels<decltype(real)>(s, leaf, message);
      });
}

int fetch_sums(wb_mixture_session *session, wb_message *message) {
  const size_t size = node_size(session, session->room.count);
  WB_TRY(for_parts(session, message, [&](wb_mixture_session *s, auto) {
    s->nodes = s->mail.data();
    s->node_count = size_t(s->pieces()) * size;
    return copy_later(s->mail.data(), s->work.roots.data(), s->node_count * sizeof(double), cudaMemcpyDeviceToHost,
                      "fetching sums of rows", message, s->stream.get());
  }));
  return for_parts(session, message,
                   [&](wb_mixture_session *s, auto) { return s->stream.wait("drawing components", message); });
}

/* Adds the sums of all parts and gives the total to each. */
int share_sums(wb_mixture_session *session, wb_message *message) {
  WB_TRY(fetch_sums(session, message));
  double *sums[WB_MOST_DEVICES], **next = sums;
  for (const wb_mixture_session *s = session; s != nullptr; s = s->next) *next++ = s->mail.data();
  const double *const total = combine(session, node_size(session, session->room.count), sums);
  return on_all<set_part_sums>(session, total, message);
}

int finish_labels(wb_mixture_session *session, double *sizes, double *log_likelihood, wb_message *message) {
  const bool whole = session->data.piece == 0, alone = session->next == nullptr;
  if (!whole || !alone) WB_TRY(whole ? share_sums(session, message) : fetch_sums(session, message));
  /* What the next step reads of a part's sums is unspecified, but it must have been written. */
  if (!whole)
    WB_TRY(for_parts(session, message,
                     [&](wb_mixture_session *s, auto) { return set_part_sums(s, s->mail.data(), message); }));
  return for_parts(session, message, [&](wb_mixture_session *s, auto) {
    return s == session ? finish_part_labels(s, sizes, log_likelihood, message) : add_part_sizes(s, sizes, message);
  });
}

int choose_anchors(wb_mixture_session *session, const wb_mixture_pairs *pairs, uint64_t key, uint32_t iteration,
                   int64_t *anchors, wb_message *message) {
  const int32_t halves = 2 * pairs->pairs;
  pair_word least[2 * WB_MIXTURE_MOST_PAIRS];
  std::memset(least, 0xFF, sizeof least);
  WB_TRY(on_all<begin_part_anchors>(session, pairs, key, iteration, message));
  WB_TRY(for_parts(session, message, [&](wb_mixture_session *s, auto) {
    part_pairs found;
    const int here = finish_part_pairs(s, pairs, "choosing rows", &found, message);
    for (int32_t i = 0; i < halves && here == WB_OK; i++) least[i] = smaller(least[i], found.words[i]);
    return here;
  }));
  for (int32_t i = 0; i < halves; i++) anchors[i] = least[i] == ~pair_word(0) ? -1 : int64_t(least[i] & 0xFFFFFFFFu);
  return WB_OK;
}

int draw_halves(wb_mixture_session *session, const wb_mixture_pairs *pairs, const wb_mixture_parameters *halves,
                const int64_t *anchors, int known, uint64_t key, uint32_t iteration, uint32_t step, double *statistics,
                double *log_probability, wb_message *message) {
  const size_t size = node_size(session, 2 * pairs->pairs);
  int64_t units[WB_MIXTURE_MOST_PAIRS] = {};
  double *sums[WB_MOST_DEVICES], **next = sums;
  WB_TRY(for_parts(session, message, [&](wb_mixture_session *s, auto real) {
    return begin_part_halves<decltype(real)>(s, pairs, halves, anchors, message);
  }));
  WB_TRY(for_chunks(
      session, message,
      [&](wb_mixture_session *s, int64_t leaf, auto real) {
        return draw_chunk_halves<decltype(real)>(s, pairs, known, key, iteration, step, leaf, message);
      },
      [&](wb_mixture_session *s, int64_t *leaf, auto real) {
        return sum_chunk_halves<decltype(real)>(s, pairs, leaf, message);
      }));
  WB_TRY(for_parts(session, message, [&](wb_mixture_session *s, auto) {
    part_pairs found;
    const int here = finish_part_pairs(s, pairs, "drawing halves", &found, message);
    for (int32_t g = 0; g < pairs->pairs && here == WB_OK; g++) units[g] += int64_t(found.words[g]);
    *next++ = found.sums;
    s->nodes = found.sums;
    s->node_count = size_t(s->pieces()) * size;
    return here;
  }));
  if (session->data.piece == 0) std::memcpy(statistics, combine(session, size, sums), (size - 1) * sizeof(double));
  for (int32_t g = 0; g < pairs->pairs; g++) log_probability[g] = double(units[g]) / WB_HALF_UNIT;
  return WB_OK;
}

int evaluate(wb_mixture_session *session, const wb_mixture_parameters *parameters, int64_t first, int64_t count,
             int32_t *labels, double *log_density, double *probability, wb_message *message) {
  return for_rows(
      session, first, count, message, [&](wb_mixture_session *s, int64_t row, int64_t rows, int64_t at, auto real) {
        return evaluate_part<decltype(real)>(s, parameters, row, rows, count, labels == nullptr ? nullptr : labels + at,
                                             log_density == nullptr ? nullptr : log_density + at,
                                             probability == nullptr ? nullptr : probability + at, message);
      });
}

int draw_rows(wb_mixture_session *session, const wb_mixture_parameters *parameters, int64_t first, int64_t count,
              uint64_t key, int64_t number, int32_t *labels, wb_message *message) {
  return for_rows(
      session, first, count, message, [&](wb_mixture_session *s, int64_t row, int64_t rows, int64_t at, auto real) {
        return draw_part_rows<decltype(real)>(s, parameters, row, rows, key, number + at, labels + at, message);
      });
}

int add_densities(wb_mixture_session *session, const wb_mixture_parameters *mixtures, int32_t mixture_count,
                  int64_t first, int64_t count, const double *log_unit, int64_t units, double *log_density,
                  wb_message *message) {
  return for_rows(session, first, count, message,
                  [&](wb_mixture_session *s, int64_t row, int64_t rows, int64_t at, auto real) {
                    return add_part_densities<decltype(real)>(s, mixtures, mixture_count, row, rows,
                                                              log_unit + (units > 1 ? at : 0), units > 1,
                                                              log_density + at, message);
                  });
}

int weigh_rows(wb_mixture_session *session, const wb_mixture_parameters *parameters, double *statistics,
               double *log_likelihood, wb_message *message) {
  if (session->next != nullptr) return wb_fail(message, WB_ERROR_INPUT, "Bayesian EM takes one graphics card");
  WB_TRY(prepare_rows(session, message));
  return on_device(session, message, [&](auto real) {
    return weigh_part<decltype(real)>(session, parameters, statistics, log_likelihood, message);
  });
}

int get_nodes(wb_mixture_session *session, double *nodes, wb_message *) {
  for (const wb_mixture_session *s = session; s != nullptr; nodes += s->node_count, s = s->next)
    if (s->node_count > 0) std::memcpy(nodes, s->nodes, s->node_count * sizeof(double));
  return WB_OK;
}

int get_row(wb_mixture_session *session, int64_t row, double *values, wb_message *message) {
  WB_TRY(keeps_missing(session, message));
  return on_device(session, message,
                   [&](auto real) { return get_part_row<decltype(real)>(session, row, values, message); });
}

} // namespace

} // namespace wb

wb::mixture_piece wb_mixture_session::piece_of(int64_t leaf) const {
  if (piece == 0) return {0, 0, leaves, leaves};
  const int64_t start = merged ? first_row / WB_LEAF_ROWS : 0, end = start + leaves,
                all = merged ? wb::ceiling(stride, WB_LEAF_ROWS) : end;
  wb::mixture_piece found = {-1, start, start, piece};
  while (found.end <= start + leaf) {
    found = {found.number + 1, found.end, 0, piece};
    /* The last node of each level may lack leaves. */
    const int64_t most = end == all ? 2 * (all - found.begin) - 1 : end - found.begin;
    while (merged && found.begin % (2 * found.size) == 0 && 2 * found.size <= most) found.size *= 2;
    found.end = wb::smaller(found.begin + found.size, end);
  }
  found.begin -= start;
  found.end -= start;
  return found;
}

extern const wb_mixture_functions wb_cuda_mixture = {wb::open_session,
                                                     wb::on_all<wb::set_part_components>,
                                                     wb::on_all<wb::set_part_statistics>,
                                                     wb::on_first<wb::get_part_statistics>,
                                                     wb::on_all<wb::draw_part_components>,
                                                     wb::on_first<wb::add_part_precisions>,
                                                     wb::on_first<wb::measure_part>,
                                                     wb::draw_labels,
                                                     wb::finish_labels,
                                                     wb::on_first<wb::get_part_components>,
                                                     wb::evaluate,
                                                     wb::draw_rows,
                                                     wb::add_densities,
                                                     wb::choose_anchors,
                                                     wb::draw_halves,
                                                     wb::weigh_rows,
                                                     wb::get_nodes,
                                                     wb::get_row,
                                                     wb::close_session};
