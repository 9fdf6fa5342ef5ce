# The model of differential_abundance().

# The numbers of cells of each type in each sample, in draws of the fit: types x samples x draws.
draw_type_counts <- function(types, draws) {
  some <- chosen_draws(types, draws)
  count <- types$map$count
  samples <- types$fit$samples
  counts <- array(0, c(count, length(samples), length(some)), list(types$types$type, samples, NULL))
  # The sampler has counted the cells of each component.
  sizes <- types$fit$draws$sample_sizes
  if (is.null(sizes)) stop_changed("types", "fit$draws$sample_sizes", "the cells of each component", sizes)
  for (i in seq_along(some)) {
    used <- types$map$used[some[[i]], ]
    of_type <- outer(seq_len(count), types$map$type_of[, some[[i]]], "==")
    counts[, , i] <- of_type %*% matrix(sizes[, , used$draw, used$chain], types$fit$components)
  }
  counts
}

chosen_draws <- function(types, draws) {
  need_samples(types)
  unique(ceiling((seq_len(draws) - 0.5) * nrow(types$map$used) / draws))
}

# The design of a formula without a response: a list of `x` (samples x columns, in the data's units); `standard`, that
# of the sampler; `scale` and `is_intercept` of columns; `contrasts` (columns x effects: combinations of coefficients);
# `matched` ("name", "order" or "formula": how rows of `data` found their samples); `group` of each sample (a factor or
# NULL), `group_name`, `of_group` (samples x groups); `kept`: the samples without missing values.
abundance_model <- function(formula, data, samples, effect, named = TRUE) {
  check_formula(formula, response = FALSE, takes = "bar", example = "~ group")
  parts <- split_formula(formula)
  of_frame <- frame_formula(parts$fixed, parts$bars)
  joined <- join_variables(of_frame, data, if (named) samples, length(samples), "sample")
  data <- joined$data
  frame <- covariate_frame(of_frame, data)
  if (nrow(frame) != length(samples)) {
    stop_input("formula", sprintf("has variables of length %d for %s", nrow(frame),
      count_words(length(samples), "sample")))
  }
  check_frame(frame, "formula", missing = TRUE)
  kept <- stats::complete.cases(frame)
  if (!any(kept)) stop_input("data", "has missing values in all samples")
  frame <- covariate_frame(of_frame, pick_rows(data, which(kept)))
  terms <- with_bases(stats::terms(parts$fixed, data = data), frame)
  check_factors(frame, terms)
  x <- design_matrix(terms, frame)
  rownames(x) <- samples[kept]
  assigned <- attr(x, "assign")
  check_design(centred(x, assigned))
  compared <- compared_effects(effect, centred(x, assigned), assigned, attr(terms, "term.labels"))
  labels <- effect_labels(compared$weights, x, frame, terms, names(effect))
  first <- compared$first
  if (!is.null(first)) {
    x[, first] <- 1
    colnames(x)[[first]] <- "(Intercept)"
    compared$weights[first, ] <- 0
    assigned[[first]] <- 0L
  }
  is_intercept <- assigned == 0L
  groups <- sample_factors(parts$bars, frame)
  scale <- unname(apply(x, 2L, stats::sd))
  scale[is_intercept | scale == 0] <- 1
  list(
    x = x, standard = centred(x, assigned) / rep(scale, each = nrow(x)), scale = scale, is_intercept = is_intercept,
    contrasts = compared$weights, labels = labels,
    group = groups$of, group_name = groups$name, alone = groups$alone,
    of_group = vapply(levels(groups$of), function(level) (groups$of == level) + 0, numeric(nrow(x))), kept = kept,
    matched = joined$how, values = format(frame[[1L]])
  )
}

# Terms (1 | g) with one sample a level are `alone`.
sample_factors <- function(bars, frame) {
  other <- Filter(Negate(is_intercept_bar), bars)
  if (length(other)) {
    stop_input("formula", "has the term ", dQuote(sprintf("(%s)", bar_words(other[[1L]])), FALSE),
      "; of terms with | only (1 | g) is known")
  }
  groups <- lapply(bars, function(bar) group_factor(frame, bar$group))
  names <- vapply(bars, function(bar) deparse1(bar$group), "")
  several <- vapply(groups, anyDuplicated, 0L) > 0L
  count <- sum(several)
  if (count > 1L) stop_input("formula", sprintf("has %d terms (1 | g); one is known", count))
  list(of = unlist(groups[several]), name = if (any(several)) names[several], alone = names[!several])
}

# Whether the rows of a design determine these combinations of its first coefficients.
are_told <- function(design, contrasts) {
  contrasts <- cbind(t(contrasts), matrix(0, ncol(contrasts), ncol(design) - nrow(contrasts)))
  qr(rbind(design, contrasts))$rank == qr(design)$rank
}

# Beside an intercept, columns without their means: those of times and dates are large.
centred <- function(x, assigned) {
  if (all(assigned > 0L)) return(x)
  x - rep(ifelse(assigned == 0L, 0, colMeans(x)), each = nrow(x))
}

check_design <- function(x) {
  factored <- qr(x)
  if (factored$rank < ncol(x)) {
    dependent <- colnames(x)[factored$pivot[seq(factored$rank + 1L, ncol(x))]]
    stop_input("formula", "has predictors that depend on each other: ", list_some(dependent),
      " follows from the others in these samples")
  }
  if (nrow(x) <= ncol(x)) {
    stop_input("formula", sprintf("has %s for %s: samples of the same kind are needed, to see how much they differ",
      count_words(ncol(x), "coefficient"), count_words(nrow(x), "sample")))
  }
}

# `weights`: columns of the design x effects. `first`: the column in place of an intercept, if there is none.
compared_effects <- function(effect, x, assigned, labels) {
  basis <- matrix(diag(ncol(x)), ncol(x), dimnames = list(colnames(x), colnames(x)))
  # A combination that changes if all samples change alike compares nothing.
  level <- round(qr.coef(qr(x), rep(1, nrow(x))), 8L)
  if (any(abs(x %*% level - 1) > 1e-6)) {
    stop_input("formula", "has no intercept, so its coefficients compare nothing: leave out `0 +` or `- 1`")
  }
  of_term <- function(own) {
    weights <- basis[, own, drop = FALSE]
    if (ncol(weights) < 2L || !all(level[own] != 0)) return(weights)
    differences <- weights[, -1L, drop = FALSE] - weights[, 1L]
    colnames(differences) <- paste(colnames(weights)[-1L], "-", colnames(weights)[[1L]])
    differences
  }
  if (is.null(effect)) {
    if (!any(assigned > 0L)) stop_input("formula", "has nothing to compare")
    effect <- labels[[1L]]
  }
  if (!is.character(effect) || !length(effect) || anyNA(effect)) {
    stop_input("effect", "must be NULL or texts such as \"groupC - groupB\", not ", show_value(effect))
  }
  given <- if (is.null(names(effect))) rep("", length(effect)) else names(effect)
  chosen <- do.call(cbind, Map(function(text, name) {
    own <- assigned > 0L & (colnames(x) == text | c("", labels)[assigned + 1L] == text)
    weights <- if (any(own)) of_term(own) else read_contrast(text, basis, assigned > 0L, labels)
    if (ncol(weights) == 1L && nzchar(name)) colnames(weights) <- name
    weights
  }, unname(effect), given))
  again <- colnames(chosen)[duplicated(colnames(chosen))]
  if (length(again)) stop_input("effect", "has two effects named ", dQuote(again[[1L]], FALSE))
  alike <- which(abs(colSums(level * chosen)) > 1e-6)
  if (length(alike)) {
    two <- paste(utils::head(rev(colnames(x)[level != 0]), 2L), collapse = " - ")
    stop_input("effect", "has ", dQuote(colnames(chosen)[alike[[1L]]], FALSE), ", which compares no samples with ",
      "others; compare two levels, such as ", dQuote(two, FALSE))
  }
  list(weights = chosen, first = if (!any(assigned == 0L)) which(level != 0)[[1L]])
}

# What sentences call each effect: "patient against control", or its name. `given`: names that the user chose.
effect_labels <- function(weights, x, frame, terms, given) {
  known <- levels_of_columns(x, frame, terms)
  several <- length(attr(terms, "term.labels")) > 1L
  labels <- vapply(colnames(weights), function(name) {
    weight <- weights[, name]
    up <- known[weight == 1, ]
    down <- known[weight == -1, ]
    if (name %in% given || nrow(up) != 1L || nrow(down) + 1L != sum(weight != 0)) return(name)
    against <- if (nrow(down) == 0L) up$base else if (identical(down$variable, up$variable)) down$level else NA
    if (anyNA(c(up$variable, against))) return(name)
    words <- paste(up$level, "against", against)
    # TRUE against FALSE, or 2 against 1, says nothing without the variable.
    plain <- grepl("^[[:alpha:]]", c(up$level, against)) & !c(up$level, against) %in% c("TRUE", "FALSE")
    if (several || !all(plain)) paste0(up$variable, ": ", words) else words
  }, "")
  stats::setNames(labels, colnames(weights))
}

# The variable, level and reference of each column of a design that is the effect of one level; NA for others.
levels_of_columns <- function(x, frame, terms) {
  out <- data.frame(variable = rep(NA_character_, ncol(x)), level = NA_character_, base = NA_character_)
  for (variable in names(attr(x, "contrasts"))) {
    inside <- attr(terms, "factors")[variable, ] > 0
    own <- which(attr(x, "assign") == match(variable, attr(terms, "term.labels")))
    if (sum(inside) != 1L || !length(own) || !identical(attr(x, "contrasts")[[variable]], "contr.treatment")) next
    out$variable[own] <- variable
    out$level[own] <- substring(colnames(x)[own], nchar(variable) + 1L)
    base <- setdiff(levels(as.factor(frame[[variable]])), out$level[own])
    if (length(base) == 1L) out$base[own] <- base
  }
  out
}

effect_words <- function(labels, names) {
  if (is.character(labels)) unname(ifelse(names %in% names(labels), labels[names], names)) else names
}

# A combination of the `known` coefficients, such as "groupC - groupB". `basis`: a unit vector for each of them.
read_contrast <- function(text, basis, known, terms) {
  basis <- basis[, known, drop = FALSE]
  code <- tryCatch(str2lang(text), error = function(error) NULL)
  at <- function(values) tryCatch(eval(code, as.list(values), linear_operators), error = function(error) NULL)
  weight <- at(as.data.frame(basis, optional = TRUE))
  # Any other number than the sum shows that the code is no linear combination.
  points <- stats::setNames(sqrt(seq_len(ncol(basis)) + 1), colnames(basis))
  is_linear <- is.numeric(weight) && length(weight) == nrow(basis) && all(is.finite(weight)) && any(weight != 0) &&
    isTRUE(all.equal(at(points), sum(weight[known] * points)))
  if (!is_linear) {
    stop_input("effect", "has ", list_some(text), "; it must be among the terms ", list_some(terms),
      ", or add and subtract multiples of ", list_some(colnames(basis)),
      " (a name that R cannot read goes into backticks)")
  }
  matrix(weight, dimnames = list(rownames(basis), text))
}

linear_operators <- list2env(mget(c("+", "-", "*", "/", "("), baseenv()), parent = emptyenv())

# The prior for the scaled design (bench/type-groups.R). `level`, `slope`, `spread`: mean and standard deviation of the
# log deviations; `shift`: scale of the Cauchy law of the common shift; `change`: smallest and largest standard
# deviation of changes, in those of a coefficient; `unchanged`: beta law of the share of types without a change.
abundance_prior <- list(coefficient = 2.5, intercept = 10, level = c(-0.6931471805599453, 1), slope = c(0.1, 0.2),
  spread = 0.5, shift = 0.2, change = c(0.07, 0.7), unchanged = c(8, 1.5))

# Runs all chains. Returns kept x chains x types (x effects): effects in the data's units, their conditional means and
# variances, and deviations. `unit`: each effect's prior standard deviation if the coefficients had 1.
fit_abundance <- function(counts, totals, model, chains, iter, warmup, seed, run) {
  tables <- dim(counts)[[3L]]
  types <- dim(counts)[[1L]]
  kept <- iter - warmup
  effects <- ncol(model$contrasts)
  total <- chains * tables
  x <- unname(model$standard)
  contrasts <- model$contrasts / model$scale
  prior <- list(mean = numeric(ncol(x)),
    precision = 1 / ifelse(model$is_intercept, abundance_prior$intercept, abundance_prior$coefficient)^2,
    deviation = c(abundance_prior$level, abundance_prior$slope, abundance_prior$spread))
  group <- if (!is.null(model$group)) as.integer(model$group) - 1L
  names <- list(NULL, NULL, dimnames(counts)[[1L]], colnames(contrasts))
  blank <- array(0, c(kept, total, types, effects), names)
  out <- list(effects = blank, mean = blank, variance = blank, present = apply(counts > 0, c(1L, 3L), any),
    unit = sqrt(colSums(contrasts^2)))
  out$deviation <- out$group_deviation <- array(0, c(kept, total, types), names[1:3])
  check_result_size(3 * length(blank), "iter", "draws of effects")
  parts <- native(C_abundance_run, array(as.double(counts), dim(counts)), totals, x, unname(contrasts), group, prior,
    lapply(seq_len(total), function(chain) chain_key(seed, chain)), as.integer(c(warmup, kept)), run)
  for (chain in seq_len(total)) {
    part <- parts[[chain]]
    out$effects[, chain, , ] <- aperm(part$contrast, 3:1)
    out$mean[, chain, , ] <- aperm(part$mean, 3:1)
    out$variance[, chain, , ] <- aperm(part$variance, 3:1)
    out$deviation[, chain, ] <- t(matrix(part$deviation[1L, , ], types))
    out$group_deviation[, chain, ] <- t(matrix(part$deviation[2L, , ], types))
  }
  out
}
